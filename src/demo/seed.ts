import * as z from 'zod';

/** The part of the output of `admin seed-demo --json` that the demonstration uses. */
export const Seed = z.object({
  site: z.object({ id: z.string(), domain: z.string() }),
  keys: z.object({ read: z.string(), write: z.string() }),
  api_user: z.object({ email: z.string(), password: z.string() }),
  categories: z.array(z.string()),
  documents: z.array(
    z.object({
      id: z.string(),
      slug: z.string(),
      kind: z.string(),
      requires_approval_token: z.boolean(),
      versions: z.array(z.object({ id: z.string(), language: z.string(), number: z.number(), state: z.string() })),
    }),
  ),
  tsa_ca: z.string(),
  ledger_key: z.string(),
});
export type Seed = z.infer<typeof Seed>;
