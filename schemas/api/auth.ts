import { z } from 'zod';
import { Uuid } from '../evidence/primitives.js';

export const LoginRequest = z.object({ email: z.string().min(3).max(320), password: z.string().min(1).max(200) });

export const RefreshRequest = z.object({ refresh_token: z.string().min(1).max(2048) });

export const UserSummary = z.object({ id: Uuid, tenant_id: Uuid, email: z.string(), role: z.string() });

/** POST /api/v1/auth/login and /refresh (names of RFC 6749 §5.1) */
export const TokensResponse = z.object({
  message: z.string(),
  data: z.object({
    token_type: z.literal('Bearer'),
    access_token: z.string(),
    /** Seconds. */
    expires_in: z.int(),
    refresh_token: z.string(),
    user: UserSummary,
  }),
});
export type TokensResponse = z.infer<typeof TokensResponse>;

/** GET /api/v1/auth/me */
export const MeResponse = z.object({ data: UserSummary });
export type MeResponse = z.infer<typeof MeResponse>;
