import pg from 'pg';
import * as z from 'zod';
import { describeDurability } from './storage.js';

const Bodies = z.array(z.object({ body: z.instanceof(Buffer) }));

/**
 * The baseline of submission batches: one connection and one multi-row insert of the event bodies
 * per batch.
 */
export class BareInsert {
  private constructor(
    private readonly client: pg.Client,
    private readonly bodies: readonly Buffer[],
  ) {}

  /** @param rows number of admitted consents whose bodies are inserted */
  static async open(url: string, rows: number): Promise<BareInsert> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // The same storage as in the outbox: an attempt to compress incompressible bodies would slow
    // the baseline down.
    await client.query(`create table if not exists bench_bare (id bigint generated always as identity primary key, body bytea not null);
      alter table bench_bare set (toast_tuple_target = 8160);
      alter table bench_bare alter column body set storage external`);
    await client.query('truncate bench_bare');
    const result = await client.query(
      "select data as body from event_log.events where type = 'ConsentRecorded.v1' order by stream, revision desc limit $1",
      [rows],
    );
    const bodies = Bodies.parse(result.rows).map(({ body }) => body);
    if (bodies.length < rows) throw new Error('too few consents were admitted before');
    return new BareInsert(client, bodies);
  }

  /** @returns milliseconds for all rows, `rowsEach` at a time */
  async run(rowsEach: number): Promise<number> {
    const values = Array.from({ length: rowsEach }, (_, i) => `($${i + 1})`).join(', ');
    const text = `insert into bench_bare (body) values ${values}`;
    const started = performance.now();
    for (let at = 0; at + rowsEach <= this.bodies.length; at += rowsEach) {
      await this.client.query({ name: 'bare', text, values: this.bodies.slice(at, at + rowsEach) });
    }
    return performance.now() - started;
  }

  /** Describes what defines the durability of a commit. */
  durability(): Promise<string> {
    return describeDurability(this.client);
  }

  end(): Promise<void> {
    return this.client.end();
  }
}
