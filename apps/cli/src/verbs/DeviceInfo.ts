/** A device as `ibv_devinfo` prints it (libibverbs/examples/devinfo.c): its lines, its tabs. */
import type { DeviceAttributes, PortAttributes } from "@rdmakit/device"
import type { GidEntry } from "@rdmakit/protocol"

export interface DeviceReport {
  readonly attributes: DeviceAttributes
  readonly port: PortAttributes
  readonly gids: ReadonlyArray<GidEntry>
}

/** enum ibv_device_cap_flags of what our devices do. */
const CAPABILITIES: ReadonlyArray<readonly [string, number]> = [
  ["UD_AV_PORT_ENFORCE", 1 << 6],
  ["PORT_ACTIVE_EVENT", 1 << 10],
  ["SYS_IMAGE_GUID", 1 << 11],
  ["RC_RNR_NAK_GEN", 1 << 12],
  ["SRQ_RESIZE", 1 << 13],
  ["MEM_WINDOW", 1 << 17],
  ["MEM_MGT_EXTENSIONS", 1 << 21],
  ["MEM_WINDOW_TYPE_2B", 1 << 24],
]

const MTU_LEAST = 256
const GBPS = 1e9

/** Width and speed of a link by its rate, as the kernel says them of a network device (ib_get_width_and_speed). */
const SPEEDS: ReadonlyArray<readonly [gbps: number, width: string, speed: string]> = [
  [1, "1X (1)", "2.5 Gbps (1)"],
  [10, "1X (1)", "10.0 Gbps (8)"],
  [20, "4X (2)", "5.0 Gbps (2)"],
  [25, "1X (1)", "25.0 Gbps (32)"],
  [40, "4X (2)", "10.0 Gbps (8)"],
  [100, "4X (2)", "25.0 Gbps (32)"],
  [200, "4X (2)", "50.0 Gbps (64)"],
  [400, "4X (2)", "100.0 Gbps (128)"],
  [Number.POSITIVE_INFINITY, "4X (2)", "200.0 Gbps (256)"],
]

/** The lines of one device. @param gidText writes 16 octets as an address */
export const deviceLines = (
  report: DeviceReport,
  verbose: boolean,
  gidText: (gid: Uint8Array) => string,
): ReadonlyArray<string> => {
  const { attributes, port, gids } = report
  const { limits } = attributes
  const flags = CAPABILITIES.reduce((bits, [, bit]) => bits | bit, 0)
  const lines = [
    `hca_id:\t${attributes.name}`,
    field("transport", "InfiniBand (0)"),
    field("fw_ver", "0.0.0"),
    field("node_guid", guidText(attributes.nodeGuid)),
    field("sys_image_guid", guidText(attributes.nodeGuid)),
    field("vendor_id", "0xffffff"),
    field("vendor_part_id", 0),
    field("hw_ver", "0x0"),
    field("phys_port_cnt", attributes.ports),
  ]
  if (verbose) {
    lines.push(
      field("max_mr_size", `0x${limits.maxMrBytes.toString(16)}`),
      field("page_size_cap", `0x${attributes.pageBytes.toString(16)}`),
      field("max_qp", limits.maxQp),
      field("max_qp_wr", limits.maxQpWr),
      field("device_cap_flags", `0x${flags.toString(16).padStart(8, "0")}`),
      ...CAPABILITIES.map(([name]) => `\t\t\t\t\t${name}`),
      field("max_sge", limits.maxSge),
      field("max_sge_rd", limits.maxSge),
      field("max_cq", limits.maxCq),
      field("max_cqe", limits.maxCqe),
      field("max_mr", limits.maxMr),
      field("max_pd", limits.maxPd),
      field("max_qp_rd_atom", limits.maxQpRdAtom),
      field("max_ee_rd_atom", 0),
      field("max_res_rd_atom", limits.maxQpRdAtom * limits.maxQp),
      field("max_qp_init_rd_atom", limits.maxQpInitRdAtom),
      field("max_ee_init_rd_atom", 0),
      field("atomic_cap", "ATOMIC_HCA (1)"),
      field("max_ee", 0),
      field("max_rdd", 0),
      field("max_mw", limits.maxMw),
      field("max_raw_ipv6_qp", 0),
      field("max_raw_ethy_qp", 0),
      field("max_mcast_grp", limits.maxMulticastGroups),
      field("max_mcast_qp_attach", limits.maxMulticastQpAttach),
      field("max_total_mcast_qp_attach", limits.maxTotalMulticastQpAttach),
      field("max_ah", limits.maxAh),
      field("max_fmr", 0),
      field("max_srq", limits.maxSrq),
      field("max_srq_wr", limits.maxSrqWr),
      field("max_srq_sge", limits.maxSrqSge),
      field("max_pkeys", port.partitionKeys),
      field("local_ca_ack_delay", 0),
    )
  }
  return [...lines, ...portLines(port, gids, verbose, gidText)]
}

const portLines = (
  port: PortAttributes,
  gids: ReadonlyArray<GidEntry>,
  verbose: boolean,
  gidText: (gid: Uint8Array) => string,
): ReadonlyArray<string> => {
  const lines = [
    "\t\tport:\t1",
    portField("state", port.state === "active" ? "PORT_ACTIVE (4)" : "PORT_DOWN (1)"),
    portField("max_mtu", mtuText(port.maxMtuBytes)),
    portField("active_mtu", mtuText(port.activeMtuBytes)),
    portField("sm_lid", 0),
    portField("port_lid", 0),
    portField("port_lmc", "0x00"),
    portField("link_layer", "Ethernet"),
  ]
  if (!verbose) return lines
  const [, width, speed] = SPEEDS.find(([gbps]) => port.lineRateBps <= gbps * GBPS)!
  lines.push(
    portField("max_msg_sz", `0x${port.maxMessageBytes.toString(16)}`),
    portField("port_cap_flags", "0x00010000"),
    portField("port_cap_flags2", "0x0000"),
    portField("max_vl_num", "1 (1)"),
    portField("bad_pkey_cntr", "0x0"),
    portField("qkey_viol_cntr", "0x0"),
    portField("sm_sl", 0),
    portField("pkey_tbl_len", port.partitionKeys),
    portField("gid_tbl_len", port.gids),
    portField("subnet_timeout", 0),
    portField("init_type_reply", 0),
    portField("active_width", width),
    portField("active_speed", speed),
    portField("phys_state", port.state === "active" ? "LINK_UP (5)" : "DISABLED (3)"),
    ...gids.map(({ index, gid, type }) => {
      const number = `GID[${String(index).padStart(3)}]`
      return portField(number, `${gidText(gid)}, ${type === "rocev2" ? "RoCE v2" : "IB/RoCE v1"}`)
    }),
  )
  return lines
}

const TAB = 8
/** Where values begin, in columns. */
const FIELD_COLUMN = 40
const PORT_FIELD_COLUMN = 48

const field = (name: string, value: string | number): string => aligned(1, name, value, FIELD_COLUMN)
const portField = (name: string, value: string | number): string => aligned(3, name, value, PORT_FIELD_COLUMN)

/** A name after tabs, as many tabs as it takes to the column, and the value. */
const aligned = (indent: number, name: string, value: string | number, column: number): string => {
  const width = indent * TAB + name.length + 1
  const tabs = Math.max(1, Math.ceil((column - width) / TAB))
  return `${"\t".repeat(indent)}${name}:${"\t".repeat(tabs)}${value}`
}

const mtuText = (bytes: number): string => `${bytes} (${Math.log2(bytes / MTU_LEAST) + 1})`

const guidText = (guid: bigint): string =>
  guid
    .toString(16)
    .padStart(16, "0")
    .replace(/(.{4})(?=.)/g, "$1:")
