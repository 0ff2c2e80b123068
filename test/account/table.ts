import * as z from 'zod';

const Device = z.enum(['none', 'accepted', 'refused', 'ended', 'opted_out']);
const YesNo = z.enum(['yes', 'no']);
const Asks = z.enum(['no', 'first', 'both', 'loading']);

/** `table.json`: what counts for each device, account, signal and sign-in (docs/accounts.md). */
export const Table = z.strictObject({
  columns: z.array(z.string()),
  cells: z.array(
    z.tuple([
      Device,
      z.enum(['none', 'accepted', 'refused', 'opted_out', 'unread']),
      z.enum(['off', 'stop', 'request']),
      YesNo,
      YesNo,
      YesNo,
      Asks,
    ]),
  ),
  signed_out_columns: z.array(z.string()),
  signed_out: z.array(z.tuple([Device, z.enum(['accept', 'partial', 'refuse', 'opt_out']), YesNo, YesNo, Asks])),
});
export type Table = z.infer<typeof Table>;
