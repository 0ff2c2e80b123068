import * as z from 'zod';

/** The metrics of one process, as `prom-client` writes and adds them up in JSON. */
export const ProcessMetrics = z.array(
  z.object({
    name: z.string(),
    help: z.string(),
    type: z.string(),
    aggregator: z.string(),
    values: z.array(
      z.object({
        value: z.number(),
        labels: z.record(z.string(), z.union([z.string(), z.number()])),
        metricName: z.string().optional(),
      }),
    ),
  }),
);
export type ProcessMetrics = z.infer<typeof ProcessMetrics>;
