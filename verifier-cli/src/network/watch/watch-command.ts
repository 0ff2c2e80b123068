import { setTimeout as delay } from 'node:timers/promises';
import { parseCheckpoint } from '../../../../schemas/evidence/checkpoint.js';
import { parseNote, type VerifierKey } from '../../../../schemas/evidence/signed-note.js';
import { type LedgerKeyOptions, readTrustedLedgerKeys } from '../../cli/given-trust.js';
import { parseDuration } from '../../cli/options.js';
import { readKeysOrFiles } from '../../cli/trust-files.js';
import { UsageError } from '../../cli/usage-error.js';
import { asciiJson, printable } from '../../rendering/printable.js';
import { boundedFetch, Unreachable } from '../bounded-fetch.js';
import { ledgerService } from '../service.js';
import { auditNewest } from '../structure/audit-newest.js';
import { auditFolder } from '../structure/audit-state.js';
import { LookLimit } from '../structure/look-limit.js';
import { openSource, type StructureSource } from '../structure/source.js';
import { tiledService } from '../structure/tiled-service.js';
import { readToken } from '../structure/token.js';
import { type Sighting, watchOnce } from './watch-once.js';
import { readWatchState, writeContradiction, writeWatchState } from './watch-state.js';

/** Options of `consent-verify watch`, as commander gives them. */
export interface WatchCommandOptions extends LedgerKeyOptions {
  /** Folder for the state of the watch, and for proofs of contradictions. */
  readonly state: string;
  readonly interval: string;
  readonly once?: boolean;
  readonly webhook?: string;
  readonly maxAge: string;
  /** Recompute the structure, from the files of a tiled log. */
  readonly structure?: boolean;
  /** File with the bearer token for a structure that is restricted to auditors. */
  readonly tokenFile?: string;
}

const EXIT = { fine: 0, contradiction: 1, violation: 1, undecided: 3 } as const;
const TITLES = {
  fine: 'FINE',
  contradiction: 'CONTRADICTION',
  violation: 'VIOLATION',
  undecided: 'UNDECIDED',
} as const;
const WEBHOOK_TIMEOUT_MS = 10_000;
/** The longest timer of Node. */
const MAX_INTERVAL_MS = 2 ** 31 - 1;

/**
 * Watches the ledger of a service until `signal` is aborted, or until it contradicts itself.
 * @returns the exit code of the last check: 0 for success, 1 for a contradiction or violation, 3 if undecided
 * @throws UsageError
 */
export async function runWatch(
  url: string,
  options: WatchCommandOptions,
  out: (text: string) => unknown,
  signal: AbortSignal,
): Promise<number> {
  const keys = await readTrustedLedgerKeys(options, readKeysOrFiles);
  if (keys.length === 0) throw new UsageError('give the verifier key of the ledger with --ledger-key or --trust');
  const source =
    options.structure === true ? await openSource(url, { token: await readToken(options.tokenFile), signal }) : null;
  const webhook = webhookUrl(options.webhook);
  const intervalMs = Math.min(Math.max(1_000, parseDuration(options.interval)), MAX_INTERVAL_MS);
  const maxAgeMs = parseDuration(options.maxAge);
  let alarm: string | null = null;
  for (;;) {
    const now = new Date();
    const limit = new LookLimit(signal, maxAgeMs);
    const until = source?.until(limit.signal) ?? null;
    const service = until === null ? ledgerService(url) : tiledService(until);
    const seen = await watchOnce({ service, keys, maxAgeMs, now }, await readWatchState(options.state));
    if (seen.state !== null) await writeWatchState(options.state, seen.state);
    const sighting =
      until === null ? seen : await withStructure(seen, { source: until, keys, folder: options.state, out, limit });
    limit.end();
    const proof = sighting.contradiction && (await writeContradiction(options.state, sighting.contradiction));
    out(`${now.toISOString()} ${TITLES[sighting.outcome]}: ${printable(sighting.statement)}.\n`);
    if (proof !== null)
      out(`The proof is in ${printable(proof)}. Verify it with consent-verify check-contradiction.\n`);
    // An alarm that stays the same is reported once.
    const problem = sighting.outcome === 'fine' ? null : sighting.statement;
    if (problem !== null && problem !== alarm && webhook !== null) await report(webhook, url, sighting, out);
    alarm = problem;
    if (options.once === true || EXIT[sighting.outcome] === EXIT.contradiction) return EXIT[sighting.outcome];
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return EXIT[sighting.outcome];
  }
}

interface StructureWatch {
  readonly source: StructureSource;
  readonly keys: readonly VerifierKey[];
  /** Folder of the state. */
  readonly folder: string;
  readonly out: (text: string) => unknown;
  readonly limit: LookLimit;
}

/** Recomputes the structure up to the checkpoint that was seen, if a trusted key signed it. */
async function withStructure(seen: Sighting, { source, keys, folder, out, limit }: StructureWatch): Promise<Sighting> {
  const text = seen.state?.newest.note;
  const note = text === undefined ? null : parseNote(text);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (seen.state === null || text === undefined || checkpoint === null) return seen;
  const { announcements } = seen.state;
  const progress = (audited: number): void => {
    out(`${new Date().toISOString()} audited ${audited} of ${checkpoint.size} leaves\n`);
  };
  const state = { folder: auditFolder(folder), checkpoint, note: text, announcements };
  const audit = await auditNewest({ source, keys, ...state, progress, advanced: limit.advance, signal: limit.signal });
  if (audit.outcome === 'sound')
    return { ...seen, statement: `${seen.statement}, and the structure up to it was recomputed` };
  return { ...seen, ...audit };
}

function webhookUrl(text: string | undefined): URL | null {
  if (text === undefined) return null;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new UsageError(`“${text}” is not a URL: write it with http:// or https://`);
}

async function report(
  webhook: URL,
  url: string,
  { outcome, statement, size, contradiction }: Sighting,
  out: (text: string) => unknown,
): Promise<void> {
  const alarm = { format: 'consent-verify-watch', version: 1, url, outcome, statement, size, contradiction };
  try {
    await boundedFetch({ url: webhook, json: asciiJson(alarm), timeoutMs: WEBHOOK_TIMEOUT_MS, maxBytes: 1024 * 1024 });
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    out(`The webhook was not informed: ${printable(error.message)}.\n`);
  }
}
