import * as z from 'zod';

const Login = z.object({ email: z.string(), password: z.string() });

/** Output of `consent-ledger admin seed-demo --json`. */
export const Seed = z.object({
  tenant_id: z.string(),
  site: z.object({ id: z.string(), domain: z.string() }),
  keys: z.object({ read: z.string().startsWith('svc_live_'), write: z.string().startsWith('svc_live_') }),
  api_user: Login,
  panel_user: Login,
  categories: z.array(z.string()).min(2),
  documents: z.array(
    z.object({
      id: z.string(),
      slug: z.string(),
      kind: z.string(),
      requires_approval_token: z.boolean(),
      versions: z.array(
        z.object({ id: z.string(), language: z.string(), number: z.int(), state: z.enum(['active', 'retired']) }),
      ),
    }),
  ),
});
export type Seed = z.infer<typeof Seed>;
