// Objects: made, changed, asked, destroyed.
#include "peer.h"
#include <fcntl.h>
#include <sys/mman.h>

static struct ibv_pd *domain(void) {
  const char *name = text("pd", "pd");
  for (struct object *o = each(NULL); o; o = each(o))
    if (o->kind == PD && !strcmp(o->name, name)) return o->handle;
  // The first object of a domain makes it.
  struct ibv_pd *pd = ibv_alloc_pd(context);
  if (pd) add(PD, name, pd);
  return pd;
}

static void make_region(const char *name) {
  size_t bytes = number("bytes", 65536), mapped = (bytes + 4095) & ~(size_t)4095;
  uint8_t *octets = mmap(NULL, mapped ? mapped : 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (octets == MAP_FAILED) return failed(errno);
  struct ibv_mr *mr = ibv_reg_mr(domain(), octets, bytes, number("access", 15));
  if (!mr) return failed(errno);
  struct object *o = add(MR, name, mr);
  o->octets = octets;
  o->bytes = bytes;
  printf("{\"ok\":true,\"lkey\":%u,\"rkey\":%u,\"address\":\"%" PRIuPTR "\"}\n", mr->lkey, mr->rkey, (uintptr_t)octets);
}

static void make_queue_pair(const char *name) {
  const char *type = text("type", "rc"), *cq = text("cq", "cq");
  struct ibv_qp_init_attr_ex a = {
      .send_cq = find(CQ, cq)->handle,
      .recv_cq = find(CQ, text("rcq", cq))->handle,
      .srq = has("srq") ? find(SRQ, text("srq", ""))->handle : NULL,
      .cap = {number("sends", 32), number("receives", 32), number("sges", 4), number("rsges", 4), number("inline", 128)},
      .qp_type = !strcmp(type, "rc") ? IBV_QPT_RC : !strcmp(type, "uc") ? IBV_QPT_UC : IBV_QPT_UD,
      .sq_sig_all = number("all", 0),
      .comp_mask = IBV_QP_INIT_ATTR_PD,
      .pd = domain(),
  };
  if (has("ops")) {
    a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    a.send_ops_flags = number("ops", 0);
  }
  struct ibv_qp *qp = ibv_create_qp_ex(context, &a);
  if (!qp) return failed(errno);
  add(QP, name, qp);
  printf("{\"ok\":true,\"qpn\":%u,\"sends\":%u,\"receives\":%u,\"sges\":%u,\"inline\":%u}\n", qp->qp_num, a.cap.max_send_wr,
         a.cap.max_recv_wr, a.cap.max_send_sge, a.cap.max_inline_data);
}

static void address_vector(struct ibv_ah_attr *a) {
  memset(a, 0, sizeof *a);
  a->is_global = 1;
  a->port_num = number("port", 1);
  a->grh.sgid_index = number("sgid", 1);
  a->grh.hop_limit = number("hop", 64);
  a->grh.traffic_class = number("tc", 0);
  a->grh.flow_label = number("flow", 0);
  a->sl = number("sl", 0);
  gid_field("gid", &a->grh.dgid);
}

void make(const char *what) {
  const char *name = text("name", what);
  void *handle;
  if (!strcmp(what, "mr")) return make_region(strcmp(name, "mr") ? name : "m");
  if (!strcmp(what, "qp")) return make_queue_pair(name);
  if (!strcmp(what, "pd")) {
    if (!(handle = ibv_alloc_pd(context))) return failed(errno);
    add(PD, name, handle);
  } else if (!strcmp(what, "mw")) {
    struct ibv_mw *mw = ibv_alloc_mw(domain(), number("type", 2) == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
    if (!mw) return failed(errno);
    add(MW, name, mw);
    printf("{\"ok\":true,\"rkey\":%u}\n", mw->rkey);
    return;
  } else if (!strcmp(what, "cq")) {
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    if (!channel) return failed(errno);
    fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
    struct ibv_cq *cq = ibv_create_cq(context, number("size", 256), NULL, channel, 0);
    if (!cq) return failed(errno);
    add(CQ, name, cq)->channel = channel;
    printf("{\"ok\":true,\"size\":%d}\n", cq->cqe);
    return;
  } else if (!strcmp(what, "srq")) {
    struct ibv_srq_init_attr a = {.attr = {.max_wr = number("size", 64), .max_sge = number("sges", 4)}};
    if (!(handle = ibv_create_srq(domain(), &a))) return failed(errno);
    add(SRQ, name, handle);
    if (has("limit")) {
      struct ibv_srq_attr limit = {.srq_limit = number("limit", 0)};
      int error = ibv_modify_srq(handle, &limit, IBV_SRQ_LIMIT);
      if (error) return failed(error);
    }
  } else {
    struct ibv_ah_attr a;
    address_vector(&a);
    if (!(handle = ibv_create_ah(domain(), &a))) return failed(errno);
    add(AH, name, handle);
  }
  done();
}

void destroy(void) {
  static const struct { const char *word; enum kind kind; } kinds[] = {
      {"pd", PD}, {"mr", MR}, {"mw", MW}, {"cq", CQ}, {"srq", SRQ}, {"qp", QP}, {"ah", AH}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (!has(kinds[i].word)) continue;
    struct object *o = find(kinds[i].kind, text(kinds[i].word, ""));
    int error = 0;
    switch (o->kind) {
    case PD: error = ibv_dealloc_pd(o->handle); break;
    case MR: error = ibv_dereg_mr(o->handle); if (!error) munmap(o->octets, (o->bytes + 4095) & ~(size_t)4095); break;
    case MW: error = ibv_dealloc_mw(o->handle); break;
    case CQ: error = ibv_destroy_cq(o->handle); if (!error) ibv_destroy_comp_channel(o->channel); break;
    case SRQ: error = ibv_destroy_srq(o->handle); break;
    case QP: error = ibv_destroy_qp(o->handle); break;
    default: error = ibv_destroy_ah(o->handle); break;
    }
    if (error) return failed(error);
    forget(o);
    return done();
  }
  failed(EINVAL);
}

// A field that is there sets its attribute and its bit in the mask; `mask` overrides the bits.
void modify(void) {
  struct ibv_qp_attr a = {0};
  int mask = 0;
#define FIELD(key, member, bit) if (has(key)) { a.member = number(key, 0); mask |= bit; }
  FIELD("state", qp_state, IBV_QP_STATE)
  FIELD("current", cur_qp_state, IBV_QP_CUR_STATE)
  FIELD("pkey", pkey_index, IBV_QP_PKEY_INDEX)
  FIELD("port", port_num, IBV_QP_PORT)
  FIELD("access", qp_access_flags, IBV_QP_ACCESS_FLAGS)
  FIELD("qkey", qkey, IBV_QP_QKEY)
  FIELD("mtu", path_mtu, IBV_QP_PATH_MTU)
  FIELD("peer", dest_qp_num, IBV_QP_DEST_QPN)
  FIELD("rpsn", rq_psn, IBV_QP_RQ_PSN)
  FIELD("spsn", sq_psn, IBV_QP_SQ_PSN)
  FIELD("resources", max_dest_rd_atomic, IBV_QP_MAX_DEST_RD_ATOMIC)
  FIELD("depth", max_rd_atomic, IBV_QP_MAX_QP_RD_ATOMIC)
  FIELD("rnrtimer", min_rnr_timer, IBV_QP_MIN_RNR_TIMER)
  FIELD("timeout", timeout, IBV_QP_TIMEOUT)
  FIELD("retry", retry_cnt, IBV_QP_RETRY_CNT)
  FIELD("rnrretry", rnr_retry, IBV_QP_RNR_RETRY)
  FIELD("notify", en_sqd_async_notify, IBV_QP_EN_SQD_ASYNC_NOTIFY)
#undef FIELD
  if (has("gid")) {
    address_vector(&a.ah_attr);
    mask |= IBV_QP_AV;
  }
  int error = ibv_modify_qp(find(QP, text("qp", "qp"))->handle, &a, number("mask", mask));
  if (error) failed(error); else done();
}

void query(void) {
  struct ibv_qp_attr a;
  struct ibv_qp_init_attr init;
  int error = ibv_query_qp(find(QP, text("qp", "qp"))->handle, &a, 0x1fffff, &init);
  if (error) return failed(error);
  printf("{\"ok\":true,\"state\":%d,\"mtu\":%d,\"sendPsn\":%u,\"receivePsn\":%u,\"peer\":%u,\"access\":%u,\"draining\":%d,"
         "\"resources\":%d,\"depth\":%d,\"rnrTimer\":%d,\"timeout\":%d,\"retry\":%d,\"rnrRetry\":%d}\n",
         a.qp_state, a.path_mtu, a.sq_psn, a.rq_psn, a.dest_qp_num, a.qp_access_flags, a.sq_draining, a.max_dest_rd_atomic,
         a.max_rd_atomic, a.min_rnr_timer, a.timeout, a.retry_cnt, a.rnr_retry);
}
