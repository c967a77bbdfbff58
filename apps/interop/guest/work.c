// Work requests, completions and events.
#include "peer.h"
#include <arpa/inet.h>
#include <poll.h>
#include <time.h>

#define SGES 16

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

// `sge=region:offset:bytes,...`; a key may be given in place of the region's, `region:offset:bytes:lkey`.
static int gather(struct ibv_sge *sges) {
  char copy[1024], *rest = copy, *part;
  int count = 0;
  snprintf(copy, sizeof copy, "%s", text("sge", ""));
  while (count < SGES && (part = strsep(&rest, ",")) && *part) {
    char *name = strsep(&part, ":"), *offset = strsep(&part, ":"), *bytes = strsep(&part, ":");
    struct object *o = find(MR, name);
    sges[count].addr = (uintptr_t)o->octets + (offset ? strtoull(offset, NULL, 0) : 0);
    sges[count].length = bytes ? strtoul(bytes, NULL, 0) : o->bytes;
    sges[count++].lkey = part ? strtoul(part, NULL, 0) : ((struct ibv_mr *)o->handle)->lkey;
  }
  return count;
}

static void atomic_write(struct ibv_qp *qp) {
  struct ibv_qp_ex *x = ibv_qp_to_qp_ex(qp);
  uint64_t value = number("value", 0);
  if (!x) return failed(EOPNOTSUPP);
  ibv_wr_start(x);
  x->wr_id = number("id", 0);
  x->wr_flags = number("flags", IBV_SEND_SIGNALED);
  ibv_wr_atomic_write(x, number("rkey", 0), number("address", 0), &value);
  int error = ibv_wr_complete(x);
  if (error) failed(error); else done();
}

void post_send(void) {
  struct ibv_qp *qp = find(QP, text("qp", "qp"))->handle;
  struct ibv_sge sges[SGES];
  struct ibv_send_wr wr = {.wr_id = number("id", 0), .opcode = number("op", IBV_WR_SEND), .send_flags = number("flags", IBV_SEND_SIGNALED)}, *bad;
  uint64_t count = number("count", 1);
  if (wr.opcode == IBV_WR_ATOMIC_WRITE) return atomic_write(qp);
  wr.sg_list = sges;
  wr.num_sge = gather(sges);
  wr.imm_data = htonl(number("imm", 0));
  if (has("inv")) wr.invalidate_rkey = number("inv", 0);
  if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic.remote_addr = number("address", 0);
    wr.wr.atomic.rkey = number("rkey", 0);
    wr.wr.atomic.compare_add = number("add", 0);
    wr.wr.atomic.swap = number("swap", 0);
  } else if (wr.opcode == IBV_WR_BIND_MW) {
    struct object *region = find(MR, text("mr", "m"));
    wr.bind_mw.mw = find(MW, text("mw", "mw"))->handle;
    wr.bind_mw.rkey = number("key", 0);
    wr.bind_mw.bind_info.mr = region->handle;
    wr.bind_mw.bind_info.addr = (uintptr_t)region->octets + number("offset", 0);
    wr.bind_mw.bind_info.length = number("bytes", region->bytes);
    wr.bind_mw.bind_info.mw_access_flags = number("access", 0);
  } else if (qp->qp_type == IBV_QPT_UD) {
    wr.wr.ud.ah = find(AH, text("ah", "ah"))->handle;
    wr.wr.ud.remote_qpn = number("peer", 0);
    wr.wr.ud.remote_qkey = number("qkey", 0);
  } else {
    wr.wr.rdma.remote_addr = number("address", 0);
    wr.wr.rdma.rkey = number("rkey", 0);
  }
  for (uint64_t i = 0; i < count; i++, wr.wr_id++) {
    int error = ibv_post_send(qp, &wr, &bad);
    if (error) return failed(error);
  }
  done();
}

void post_receive(void) {
  struct ibv_sge sges[SGES];
  struct ibv_recv_wr wr = {.wr_id = number("id", 0), .sg_list = sges}, *bad;
  uint64_t count = number("count", 1);
  wr.num_sge = gather(sges);
  for (uint64_t i = 0; i < count; i++, wr.wr_id++) {
    int error = has("srq") ? ibv_post_srq_recv(find(SRQ, text("srq", ""))->handle, &wr, &bad)
                           : ibv_post_recv(find(QP, text("qp", "qp"))->handle, &wr, &bad);
    if (error) return failed(error);
  }
  done();
}

// Waits for `count` completions, no longer than `ms`; answers with what there is.
void poll_completions(void) {
  struct ibv_cq *cq = find(CQ, text("cq", "cq"))->handle;
  uint64_t count = number("count", 1), found = 0;
  double end = now_ms() + number("ms", 5000);
  struct ibv_wc wc;
  printf("{\"ok\":true,\"completions\":[");
  while (found < count) {
    int n = ibv_poll_cq(cq, 1, &wc);
    if (n < 0) break;
    if (n == 0) {
      if (now_ms() > end) break;
      struct timespec pause = {0, 200000};
      nanosleep(&pause, NULL);
      continue;
    }
    printf("%s{\"id\":%" PRIu64 ",\"status\":%d,\"opcode\":%d,\"bytes\":%u,\"imm\":%u,\"inv\":%u,\"qpn\":%u,\"source\":%u,"
           "\"flags\":%u,\"vendor\":%u}",
           found++ ? "," : "", wc.wr_id, wc.status, wc.opcode, wc.byte_len, ntohl(wc.imm_data), wc.invalidated_rkey, wc.qp_num,
           wc.src_qp, wc.wc_flags, wc.vendor_err);
  }
  printf("]}\n");
}

static int readable(int fd, double end) {
  struct pollfd p = {.fd = fd, .events = POLLIN};
  double left = end - now_ms();
  return poll(&p, 1, left > 0 ? (int)left + 1 : 0) > 0;
}

void completion_event(void) {
  struct object *o = find(CQ, text("cq", "cq"));
  struct ibv_cq *cq;
  void *user;
  int found = 0;
  if (readable(o->channel->fd, now_ms() + number("ms", 1000)) && !ibv_get_cq_event(o->channel, &cq, &user)) {
    ibv_ack_cq_events(cq, 1);
    found = 1;
  }
  printf("{\"ok\":true,\"event\":%s}\n", found ? "true" : "false");
}

static const char *name_of(const struct ibv_async_event *event) {
  void *element = event->element.qp;
  for (struct object *o = each(NULL); o; o = each(o))
    if (o->handle == element) return o->name;
  return "";
}

// Collects what comes within `ms`.
void async_events(void) {
  double end = now_ms() + number("ms", 100);
  struct ibv_async_event event;
  int found = 0;
  printf("{\"ok\":true,\"events\":[");
  while (readable(context->async_fd, end) && !ibv_get_async_event(context, &event)) {
    printf("%s{\"type\":%d,\"name\":\"%s\",\"element\":\"%s\"}", found++ ? "," : "", event.event_type,
           ibv_event_type_str(event.event_type), name_of(&event));
    ibv_ack_async_event(&event);
  }
  printf("]}\n");
}
