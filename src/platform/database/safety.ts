import type pg from 'pg';
import * as z from 'zod';
import { DatabaseSetupError } from './errors.js';

const MINIMUM_MAJOR = 15;

const settingsSchema = z.array(z.object({ name: z.string(), setting: z.string() }));

/**
 * Refuses a server that is too old or that could lose committed data, because a 202 response
 * promises durability.
 * @throws DatabaseSetupError `unsafe_server` or `unsupported_version`
 */
export async function refuseUnsafeServer(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query(
    `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'server_version_num')`,
  );
  const settings = new Map(settingsSchema.parse(rows).map((row) => [row.name, row.setting]));
  const major = Math.floor(Number(settings.get('server_version_num')) / 10_000);
  if (!(major >= MINIMUM_MAJOR)) {
    throw new DatabaseSetupError(
      'unsupported_version',
      `The server of DATABASE_URL is PostgreSQL ${major}. The service requires version ${MINIMUM_MAJOR} or later.`,
    );
  }
  for (const name of ['fsync', 'full_page_writes']) {
    if (settings.get(name) !== 'on') {
      throw new DatabaseSetupError(
        'unsafe_server',
        `The PostgreSQL server runs with ${name} = ${settings.get(name) ?? 'unknown'}: it could lose acknowledged ` +
          `consents. Set ${name} = on in postgresql.conf and restart the server.`,
      );
    }
  }
}
