import * as z from 'zod';
import { InitialCookie, Visit } from './visit.js';

const Faults = z.int().min(0);

/** The work of a process of scans: one visit, or one part of the proof that the browser keeps to its proxy. */
export const ScanJob = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('visit'),
    url: z.url({ protocol: /^https?$/ }),
    /** Verified domain that the page must stay on. */
    domain: z.string(),
    cookie: InitialCookie.nullable(),
    /** Null: the page is requested by plain HTTP. */
    chromePath: z.string().nullable(),
    /** Networks that are not public and may be reached nevertheless, on any port. */
    allowedNetworks: z.array(z.string()),
    userAgent: z.string(),
  }),
  z.strictObject({ kind: z.literal('stun'), chromePath: z.string(), isGuarded: z.boolean() }),
]);
export type ScanJob = z.infer<typeof ScanJob>;

/** The one message of the process. A page decides about much of what is in it. */
export const ScanAnswer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('visited'), visit: Visit, faults: Faults }),
  z.strictObject({ kind: z.literal('asked'), isPacket: z.boolean(), faults: Faults }),
  /** The page could not be visited; the message is for the user. */
  z.strictObject({ kind: z.literal('failed'), message: z.string().max(2_000), faults: Faults }),
  /** An error of the program: its name and places, without its message, which can quote the page. */
  z.strictObject({ kind: z.literal('broken'), at: z.string().max(2_000), faults: Faults }),
]);
export type ScanAnswer = z.infer<typeof ScanAnswer>;
