import type pg from 'pg';
import { z } from 'zod';
import { createFreshCache } from './fresh-cache.js';

export const ROLES = ['owner', 'admin', 'dpo', 'viewer', 'api_user'] as const;
export type Role = (typeof ROLES)[number];

export interface User {
  readonly id: string;
  readonly tenantId: string;
  readonly email: string;
  readonly role: Role;
}

/** Users by id, cached for at most a second: a disabled one is out at once. */
export interface UserDirectory {
  /** @returns null for unknown and disabled users */
  byId(userId: string): Promise<User | null>;
}

export const UserRow = z
  .object({ id: z.string(), tenant_id: z.string(), email: z.string(), role: z.enum(ROLES) })
  .transform(({ id, tenant_id, email, role }): User => ({ id, tenantId: tenant_id, email, role }));

const MAX_AGE_MS = 1000;
const MAX_USERS = 10_000;

/** @param database may SELECT `users` */
export function createUserDirectory(pool: pg.Pool, now: () => number = () => performance.now()): UserDirectory {
  const users = createFreshCache<string, User | null>({
    maxAgeMs: MAX_AGE_MS,
    maxEntries: MAX_USERS,
    now,
    load: async (userId) => {
      const { rows } = await pool.query({
        name: 'user_by_id',
        text: 'select id, tenant_id, email, role from users where id = $1 and disabled_at is null',
        values: [userId],
      });
      return z.array(UserRow).parse(rows)[0] ?? null;
    },
  });
  return { byId: (userId) => users.get(userId) };
}
