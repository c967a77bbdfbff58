/** What `Endpoints.scan` has of an endpoint, bits, its priority above them. */
export const Scan = { HasData: 1, WindowBound: 2, Finished: 4, PRIORITY_SHIFT: 3 } as const
