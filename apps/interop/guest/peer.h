// The verbs peer of the guest: it reads one command a line and answers each with one line of JSON.
// A command is a word and fields, `send qp=q id=1 op=2 sge=m:0:64`. Objects have names that the commands choose.
#ifndef PEER_H
#define PEER_H
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

enum kind { PD, MR, MW, CQ, SRQ, QP, AH, CHANNEL };

struct object {
  enum kind kind;
  char name[24];
  void *handle;
  uint8_t *octets; // of a region
  size_t bytes;
  struct ibv_comp_channel *channel; // of a completion queue
  struct object *next;
};

extern struct ibv_context *context;

// Fields of the command at hand.
int has(const char *key);
const char *text(const char *key, const char *otherwise);
uint64_t number(const char *key, uint64_t otherwise);
int gid_field(const char *key, union ibv_gid *gid);

// Objects by name. `find` ends the program when there is none: a mistake of whoever drives it.
struct object *find(enum kind kind, const char *name);
struct object *add(enum kind kind, const char *name, void *handle);
struct object *each(struct object *after);
void forget(struct object *object);

// Answers. `failed` takes the number of the error.
void failed(int error);
void done(void);

void make(const char *what);
void destroy(void);
void modify(void);
void query(void);
void post_send(void);
void post_receive(void);
void poll_completions(void);
void completion_event(void);
void async_events(void);
void memory(const char *what);
#endif
