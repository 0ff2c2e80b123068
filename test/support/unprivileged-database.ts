import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { DATABASE_ROLES } from '../../src/platform/database/session.js';
import { createTestDatabase } from './postgres.js';

/** An empty database whose owner is no superuser, as on a managed server. */
export interface UnprivilegedDatabase {
  /** Connection string of the owner. */
  readonly url: string;
  readonly user: string;
  readonly name: string;
  /** Runs statements as the superuser, one by one. @returns the rows of the last one */
  sql(...statements: readonly string[]): Promise<unknown[]>;
  drop(): Promise<void>;
}

export async function createUnprivilegedDatabase(): Promise<UnprivilegedDatabase> {
  const database = await createTestDatabase({ migrated: false });
  const url = new URL(database.url);
  const name = url.pathname.slice(1);
  const user = `owner_${randomBytes(6).toString('hex')}`;
  url.username = user;
  url.password = randomBytes(12).toString('hex');
  const sql = async (...statements: readonly string[]): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      let rows: unknown[] = [];
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows;
    } finally {
      await client.end();
    }
  };
  // The roles belong to the server, whose template database has made them.
  await sql(
    `create role ${user} login password '${url.password}'`,
    `grant ${DATABASE_ROLES.join(', ')} to ${user}`,
    `alter database ${name} owner to ${user}`,
  );
  return {
    url: url.href,
    user,
    name,
    sql,
    async drop() {
      const other = new URL(database.url);
      await database.drop();
      other.pathname = '/postgres';
      const client = new pg.Client({ connectionString: other.href });
      await client.connect();
      await client.query(`drop role ${user}`);
      await client.end();
    },
  };
}
