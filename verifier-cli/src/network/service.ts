import type * as z from 'zod';
import { CheckpointsResponse, LedgerKeysResponse, MAX_CHECKPOINTS } from '../../../schemas/api/checkpoints.js';
import type { ProvedEntryFile } from '../../../schemas/evidence/contradiction.js';
import type { ConsistencyLine } from '../../../schemas/evidence/package-lines.js';
import { withoutTrailing } from '../../../schemas/text/without-trailing.js';
import { UsageError } from '../cli/usage-error.js';
import { parseConsistencyFile } from '../compare/consistency.js';
import { parseShape } from '../files/parse.js';
import { englishText } from '../findings/finding.js';
import { boundedFetch, Unreachable } from './bounded-fetch.js';

const MAX_NOTE_BYTES = 64 * 1024;
const MAX_JSON_BYTES = 4 * 1024 * 1024;
/** Pages of the list: 100 million checkpoints. */
const MAX_PAGES = 100_000;

/** A stamped checkpoint in the list of a service. */
export interface ListedCheckpoint {
  readonly size: number;
  /** Time of the checkpoint's stamp, or of its newest batch, according to the service. Null if it states neither. */
  readonly time: Date | null;
}

/** The public routes of a service that a monitor reads. Each throws `Unreachable`. */
export interface LedgerService {
  /** @param after only larger sizes count @returns null if there are none */
  newest(after: number): Promise<ListedCheckpoint | null>;
  /** The note of a checkpoint, as the service sent it. */
  note(size: number): Promise<Uint8Array>;
  /** @returns an empty proof if the response has none */
  consistency(from: number, size: number): Promise<readonly ConsistencyLine[]>;
  /** The announcements of the ledger's keys that the service returns, oldest first. */
  announcements(): Promise<readonly ProvedEntryFile[]>;
}

/**
 * @param base URL of the service, with or without `/checkpoints/`
 * @throws UsageError if it is not an http or https URL
 */
export function ledgerService(base: string, timeoutMs = 20_000): LedgerService {
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol))
    throw new UsageError(`“${base}” is not a URL: write it with http:// or https://`);
  const prefix = withoutTrailing(base, '/').replace(/\/checkpoints$/, '');
  const get = (path: string, maxBytes: number) =>
    boundedFetch({ url: new URL(`${prefix}/checkpoints${path}`), timeoutMs, maxBytes });
  const getJson = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const parsed = parseShape(schema, await get(path, MAX_JSON_BYTES));
    if (parsed.ok) return parsed.value;
    throw new Unreachable(`${prefix}/checkpoints${path} is not the answer of a ledger: ${englishText(parsed.reason)}`);
  };
  return {
    async newest(after) {
      let last: ListedCheckpoint | null = null;
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const start: number = last?.size ?? after;
        const { checkpoints } = (await getJson(`/?after=${start}`, CheckpointsResponse)).data;
        const end = checkpoints.at(-1);
        if (end === undefined) return last;
        if (end.size <= start) break;
        last = { size: end.size, time: new Date(end.time) };
        if (checkpoints.length < MAX_CHECKPOINTS) return last;
      }
      throw new Unreachable(`${prefix}/checkpoints/ does not list checkpoints by size`);
    },
    note: (size) => get(`/${size}/note`, MAX_NOTE_BYTES),
    async consistency(from, size) {
      return parseConsistencyFile(await get(`/${size}/consistency/${from}`, MAX_JSON_BYTES)) ?? [];
    },
    async announcements() {
      return announcementsIn(await getJson('/keys', LedgerKeysResponse));
    },
  };
}

/** The announcements in a list of keys. */
export function announcementsIn({ data: { keys } }: LedgerKeysResponse): readonly ProvedEntryFile[] {
  return keys.flatMap(({ announcement }) => announcement ?? []);
}
