import * as z from 'zod';
import { LogDamaged } from '../pipeline/event-log/errors.js';
import { auditCatalogue } from './catalogue.js';
import { reportContradictions } from './contradictions.js';
import { auditExports } from './exports.js';
import { collectFindings, damagedLog, type Finding, type FoldedFindings } from './finding.js';
import { auditKeys } from './keys.js';
import { auditLedger } from './ledger.js';
import { auditLog } from './log.js';
import { auditOutbox } from './outbox.js';
import { auditSealedPromises, auditWaitingPromises } from './promises.js';
import { auditReadModels } from './read-models.js';
import { auditSchema, auditSealedRows } from './sealed-rows.js';
import type { AuditParts, Section } from './section.js';
import { auditStamps } from './stamps.js';
import { type AuditState, NOTHING_AUDITED, SECTIONS, type SectionName } from './state-file.js';

export interface AuditOptions extends AuditParts {
  readonly from?: AuditState;
  readonly signal?: AbortSignal;
  /** Share of the time in which the audit may work, from above 0 to 1. */
  readonly load?: number;
  readonly onProgress?: (section: SectionName, done: number, total: number | null) => void;
  readonly onFinding?: (finding: Finding) => void;
  /** Stores how far the audit has got. */
  readonly onState?: (state: AuditState) => Promise<void>;
}

export interface AuditResult {
  readonly findings: readonly Finding[];
  /** Findings that are not listed because there are too many. */
  readonly more: number;
  /** Number of findings that a lost end of the log may explain. */
  readonly folded: readonly FoldedFindings[];
}

/**
 * Compares everything that an installation stores with the log and with the seals, and writes nothing. It may run while
 * the service works: rows are compared as of a position, so events in flight are not reported.
 * @throws AbortError; EventLogUnavailable, database errors
 */
export async function runAudit(options: AuditOptions): Promise<AuditResult> {
  const { from = NOTHING_AUDITED, onProgress = () => undefined, onState = async () => undefined } = options;
  const findings = collectFindings({ all: from.findings, folded: from.folded }, options.onFinding);
  const done = [...from.done];
  let logPosition = from.logPosition;
  const store = (): Promise<void> =>
    onState({ done: [...done], logPosition, findings: [...findings.all], folded: findings.folded });
  for (const name of SECTIONS) {
    if (done.includes(name)) continue;
    const pace = createPace(options.load ?? 1, options.signal);
    const section: Section = {
      ...options,
      findings,
      step: async (count, total) => {
        onProgress(name, count, total);
        await pace();
      },
    };
    await unlessUnreadable(section, name, async () => {
      if (name === 'log')
        await auditLog(section, logPosition, async (position) => {
          logPosition = position;
          await store();
        });
      else await WORK[name]?.(section);
      await reportContradictions(section, name);
    });
    done.push(name);
    await store();
  }
  return { findings: findings.all, more: findings.more, folded: findings.folded };
}

/** The work of a section in addition to the statements of `reportContradictions`. */
const WORK: Readonly<Partial<Record<SectionName, (section: Section) => Promise<void>>>> = {
  schema: auditSchema,
  rows: auditSealedRows,
  keys: auditKeys,
  ledger: async (section) => {
    await auditLedger(section);
    await auditSealedPromises(section);
  },
  stamps: auditStamps,
  'read-models': auditReadModels,
  catalogue: auditCatalogue,
  outbox: async (section) => {
    await auditOutbox(section);
    await auditWaitingPromises(section);
  },
  exports: auditExports,
};

/** A row that the service cannot even parse, and a damaged log, end their section, and are findings. */
async function unlessUnreadable({ findings }: Section, name: SectionName, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof LogDamaged) {
      findings.add(damagedLog(error, `${error.message} This ended the section ${name}.`));
      return;
    }
    if (!(error instanceof z.ZodError)) throw error;
    const detail = `a row has a form that the service does not write, and ended the section: ${z.prettifyError(error)}`;
    findings.add({ kind: 'content-altered', table: '', key: name, detail });
  }
}

/** Returns a function that pauses after each piece of work, so that the audit takes only its share of the time. */
function createPace(load: number, signal: AbortSignal | undefined): () => Promise<void> {
  let since = performance.now();
  return async () => {
    signal?.throwIfAborted();
    const worked = performance.now() - since;
    const rest = worked * (1 / load - 1);
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    signal?.throwIfAborted();
    since = performance.now();
  };
}
