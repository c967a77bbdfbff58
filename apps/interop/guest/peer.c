// Commands in, answers out; the table of objects; memory.
#include "peer.h"
#include <arpa/inet.h>
#include <fcntl.h>

struct ibv_context *context;

static char line[65536];
static struct { const char *key, *value; } fields[96];
static int field_count;
static struct object *objects;

static void fault(const char *what, const char *name) {
  printf("{\"ok\":false,\"errno\":-1,\"error\":\"%s %s\"}\n", what, name);
  fflush(stdout);
  exit(2);
}

const char *text(const char *key, const char *otherwise) {
  for (int i = 0; i < field_count; i++)
    if (!strcmp(fields[i].key, key)) return fields[i].value;
  return otherwise;
}

int has(const char *key) { return text(key, NULL) != NULL; }

uint64_t number(const char *key, uint64_t otherwise) {
  const char *value = text(key, NULL);
  return value ? strtoull(value, NULL, 0) : otherwise;
}

int gid_field(const char *key, union ibv_gid *gid) {
  const char *value = text(key, "");
  if (strlen(value) != 32) return 0;
  for (int i = 0; i < 16; i++) {
    unsigned octet;
    if (sscanf(value + 2 * i, "%2x", &octet) != 1) return 0;
    gid->raw[i] = octet;
  }
  return 1;
}

struct object *find(enum kind kind, const char *name) {
  for (struct object *o = objects; o; o = o->next)
    if (o->kind == kind && !strcmp(o->name, name)) return o;
  fault("no object", name);
  return NULL;
}

struct object *add(enum kind kind, const char *name, void *handle) {
  struct object *o = calloc(1, sizeof *o);
  o->kind = kind;
  snprintf(o->name, sizeof o->name, "%s", name);
  o->handle = handle;
  o->next = objects;
  objects = o;
  return o;
}

struct object *each(struct object *after) { return after ? after->next : objects; }

void forget(struct object *object) {
  for (struct object **at = &objects; *at; at = &(*at)->next)
    if (*at == object) {
      *at = object->next;
      free(object);
      return;
    }
}

void failed(int error) { printf("{\"ok\":false,\"errno\":%d,\"error\":\"%s\"}\n", error, strerror(error)); }
void done(void) { printf("{\"ok\":true}\n"); }

static void open_device(void) {
  int count;
  struct ibv_device **devices = ibv_get_device_list(&count);
  struct ibv_port_attr port;
  struct ibv_device_attr limits;
  const char *name = text("device", NULL);
  for (int i = 0; i < count && !context; i++)
    if (!name || !strcmp(name, ibv_get_device_name(devices[i]))) context = ibv_open_device(devices[i]);
  if (!context) return failed(ENODEV);
  // Events are asked for without waiting.
  fcntl(context->async_fd, F_SETFL, fcntl(context->async_fd, F_GETFL) | O_NONBLOCK);
  int error = ibv_query_port(context, 1, &port);
  if (!error) error = ibv_query_device(context, &limits);
  if (error) return failed(error);
  printf("{\"ok\":true,\"device\":\"%s\",\"state\":%d,\"activeMtu\":%d,\"maxMtu\":%d,\"maxQpRdAtomic\":%d,\"gids\":[",
         ibv_get_device_name(context->device), port.state, port.active_mtu, port.max_mtu, limits.max_qp_rd_atom);
  for (int i = 0, written = 0; i < port.gid_tbl_len && i < 16; i++) {
    union ibv_gid gid;
    static const union ibv_gid none;
    if (ibv_query_gid(context, 1, i, &gid) || !memcmp(&gid, &none, 16)) continue;
    printf("%s{\"index\":%d,\"gid\":\"", written++ ? "," : "", i);
    for (int k = 0; k < 16; k++) printf("%02x", gid.raw[k]);
    printf("\"}");
  }
  printf("]}\n");
}

// The octet at a place of a pattern: the other side computes the same.
static uint8_t pattern(uint64_t at, uint64_t seed) { return at * 7 + (at >> 8) * 3 + (at >> 16) * 5 + seed; }

void memory(const char *what) {
  struct object *o = find(MR, text("mr", "m"));
  uint64_t start = number("offset", 0), seed = number("seed", 0);
  uint64_t origin = number("origin", 0); // place in the pattern of the first octet
  if (start > o->bytes) return failed(EFAULT);
  uint64_t bytes = number("bytes", o->bytes - start);
  if (bytes > o->bytes - start) return failed(EFAULT);
  uint8_t *p = o->octets + start;
  if (!strcmp(what, "fill")) {
    for (uint64_t i = 0; i < bytes; i++) p[i] = pattern(origin + i, seed);
    done();
  } else if (!strcmp(what, "clear")) {
    memset(p, (int)seed, bytes);
    done();
  } else if (!strcmp(what, "check")) {
    for (uint64_t i = 0; i < bytes; i++)
      if (p[i] != pattern(origin + i, seed)) {
        printf("{\"ok\":true,\"equal\":false,\"at\":%" PRIu64 ",\"found\":%u,\"wanted\":%u}\n", i, p[i], pattern(origin + i, seed));
        return;
      }
    printf("{\"ok\":true,\"equal\":true}\n");
  } else if (!strcmp(what, "peek")) {
    printf("{\"ok\":true,\"octets\":\"");
    for (uint64_t i = 0; i < bytes; i++) printf("%02x", p[i]);
    printf("\"}\n");
  } else {
    const char *hex = text("octets", "");
    for (uint64_t i = 0; hex[2 * i] && hex[2 * i + 1] && start + i < o->bytes; i++) {
      unsigned octet = 0;
      sscanf(hex + 2 * i, "%2x", &octet);
      p[i] = octet;
    }
    done();
  }
}

static void command(const char *word) {
  if (!strcmp(word, "open")) return open_device();
  if (!strcmp(word, "exit")) {
    done();
    exit(0);
  }
  if (!context) return failed(ENODEV);
  if (!strcmp(word, "pd") || !strcmp(word, "mr") || !strcmp(word, "mw") || !strcmp(word, "cq") || !strcmp(word, "srq") ||
      !strcmp(word, "qp") || !strcmp(word, "ah"))
    return make(word);
  if (!strcmp(word, "destroy")) return destroy();
  if (!strcmp(word, "modify")) return modify();
  if (!strcmp(word, "query")) return query();
  if (!strcmp(word, "send")) return post_send();
  if (!strcmp(word, "receive")) return post_receive();
  if (!strcmp(word, "poll")) return poll_completions();
  if (!strcmp(word, "notify")) {
    int error = ibv_req_notify_cq(find(CQ, text("cq", "cq"))->handle, number("solicited", 0));
    return error ? failed(error) : done();
  }
  if (!strcmp(word, "event")) return completion_event();
  if (!strcmp(word, "async")) return async_events();
  if (!strcmp(word, "attach") || !strcmp(word, "detach")) {
    union ibv_gid gid;
    struct ibv_qp *qp = find(QP, text("qp", "qp"))->handle;
    if (!gid_field("gid", &gid)) return failed(EINVAL);
    int error = *word == 'a' ? ibv_attach_mcast(qp, &gid, 0) : ibv_detach_mcast(qp, &gid, 0);
    return error ? failed(error) : done();
  }
  if (!strcmp(word, "fill") || !strcmp(word, "clear") || !strcmp(word, "check") || !strcmp(word, "peek") || !strcmp(word, "poke"))
    return memory(word);
  fault("no command", word);
}

int main(void) {
  setvbuf(stdout, NULL, _IOFBF, 65536);
  while (fgets(line, sizeof line, stdin)) {
    char *word = strtok(line, " \n"), *token;
    if (!word) continue;
    for (field_count = 0; field_count < 96 && (token = strtok(NULL, " \n")); field_count++) {
      char *equals = strchr(token, '=');
      if (equals) *equals = 0;
      fields[field_count].key = token;
      fields[field_count].value = equals ? equals + 1 : "";
    }
    command(word);
    fflush(stdout);
  }
  return 0;
}
