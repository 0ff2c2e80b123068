import { Command, Option } from 'commander';
import { DISCLOSURE_NAMES, isDisclosureName } from '../../schemas/evidence/disclosed-values.js';
import type { ExportStatement } from '../../schemas/evidence/manifest.js';
import { STATED_REASONS } from '../../schemas/evidence/stated-reasons.js';
import type { Installation } from '../app/installation.js';
import { auditDetails } from '../evidence/exports/index.js';
import {
  type Disclose,
  type ExportFilter,
  exportEvidence,
  refuseExisting,
  releasedVerifier,
  waitUntilStamped,
} from '../evidence/package/index.js';
import { parseIdentifier } from '../evidence/verification/stored-record.js';
import { createYieldToAdmission } from '../pipeline/admission/yield-to-admission.js';
import { appendAuditEntry } from '../platform/audit-log.js';
import { VERSION } from '../platform/version.js';
import { tenantOfSite } from '../tenancy/sites/sites.js';
import { CommandError, EXIT, jsonCommand, several, uuid, wholeNumber } from './command/command.js';
import { type CliContext, print, withInstallation } from './command/context.js';
import { progressBar } from './command/progress-bar.js';

interface Options {
  readonly json?: boolean;
  readonly site: string;
  readonly output: string;
  readonly overwrite?: boolean;
  readonly wait?: true | number;
  readonly disclose?: string;
  readonly from?: string;
  readonly to?: string;
  readonly consentType?: string;
  readonly documentVersion?: string;
  readonly record?: readonly string[];
  readonly visitor?: string;
  readonly reason?: ExportStatement['reason'];
}

/** `evidence export` */
export function evidenceCommand(context: CliContext): Command {
  const group = new Command('evidence').description('make evidence packages, which a third party can verify offline');
  group.addCommand(
    jsonCommand('export', 'write an evidence package of a site, as of the newest checkpoint with a time stamp')
      .requiredOption('--site <id>', 'id of the site', uuid)
      .requiredOption('--output <path>', 'path of the ZIP to write; must not exist, unless --overwrite is given')
      .option('--overwrite', 'replace an existing file')
      .option(
        '--wait [seconds]',
        'first wait until every consent recorded so far has a time stamp, at most this long (default: BATCH_MAX_AGE_MS + 2 × STAMP_INTERVAL_MS + 2 minutes)',
        wholeNumber(1),
      )
      .option(
        '--disclose <fields>',
        'personal fields to disclose: all, none, or names separated by commas (default: none; with --visitor: visitor_id, without which the package does not prove whose records it has)',
      )
      .option('--from <time>', 'consents at or after this time, e.g. 2026-01-31T00:00:00Z')
      .option('--to <time>', 'consents before this time')
      .option('--consent-type <type>', 'only consents of this type')
      .option('--document-version <id>', 'only consents to this document version', uuid)
      .option('--record <id>', 'only this record, by id or consent token; may be repeated', several)
      .option('--visitor <visitor_id>', 'only consents of this person')
      .addOption(
        new Option('--reason <reason>', 'what the package states that it was made for').choices(STATED_REASONS),
      )
      .action((options: Options) => exportPackage(context, options)),
  );
  return group;
}

async function exportPackage(context: CliContext, options: Options): Promise<void> {
  const filter = filterOf(options);
  const stated = options.reason === undefined ? undefined : ({ role: 'command', reason: options.reason } as const);
  const disclose = discloseOf(options.disclose ?? (options.visitor === undefined ? 'none' : 'visitor_id'));
  await withInstallation(context, async (installation) => {
    context.lowerPriority();
    const { adminPool, workerPool, eventLog, keyring, config, tracing } = installation;
    if (options.overwrite !== true) await refuseExisting(options.output);
    if (options.wait !== undefined) await waitForStamp(context, installation, options.site, options.wait);
    // The audit entry precedes the export: even a failed export may have disclosed data.
    await appendAuditEntry(adminPool, {
      tenantId: await tenantOfSite(adminPool, options.site),
      actor: { kind: 'operator' },
      action: 'export.create',
      subject: { kind: 'site', id: options.site },
      details: auditDetails(filter, disclose, stated),
    });
    const bar = progressBar(context, '{step} [{bar}] {value}/{total}');
    const result = await exportEvidence(
      {
        db: workerPool,
        eventLog,
        keyring,
        origin: config.ledgerOrigin,
        verifier: await releasedVerifier(config.discovery.publicUrl, VERSION),
        tracing,
        yieldToAdmission: createYieldToAdmission({ db: workerPool }),
      },
      {
        siteId: options.site,
        filter,
        disclose,
        output: options.output,
        overwrites: options.overwrite === true,
        exportedBy: 'consent-ledger evidence export',
        ...(stated !== undefined && { stated }),
        onProgress: ({ step, done, total }) => {
          bar.update(done, total ?? done, { step });
        },
      },
    ).finally(() => bar.stop());
    const { path, counts, checkpoint, bytes, filterDisclosures } = result;
    print(context, options, { path, counts, checkpoint, bytes, filter_disclosures: filterDisclosures }, [
      `Wrote ${path}: ${bytes} bytes, as of checkpoint ${checkpoint ?? 'none (the ledger has no time stamp yet)'}.`,
      ...Object.entries(counts).map(([name, count]) => `  ${name.padEnd(18)} ${String(count)}`),
      ...filterDisclosures.map(
        (text) =>
          `To prove which person the filter names, give this text to the verifier apart from the package: ${text}`,
      ),
      ...(counts.not_yet_stamped === 0 ? [] : [notInIt(counts.not_yet_stamped, config.stampIntervalMs)]),
      'Verify it: consent-verify check <package> --tsa-ca <file> --ledger-key <file>',
    ]);
  });
}

/**
 * Waits until all recorded consents have a time stamp.
 * @param wait longest wait in seconds, or true for the default
 * @throws CommandError if the wait is too long
 */
async function waitForStamp(
  { stderr }: CliContext,
  { workerPool, config: { batch, stampIntervalMs } }: Installation,
  siteId: string,
  wait: true | number,
): Promise<void> {
  const atMostMs = wait === true ? batch.maxAgeMs + 2 * stampIntervalMs + 120_000 : wait * 1000;
  const isStamped = await waitUntilStamped(workerPool, siteId, {
    atMostMs,
    onWaiting: () =>
      stderr.write(`Waiting for the time stamp of all recorded consents; ${stampsComeEvery(stampIntervalMs)}.\n`),
  });
  if (isStamped) return;
  throw new CommandError(
    `After ${atMostMs / 1000} s some recorded consents have no time stamp, and no package was written: ${stampsComeEvery(stampIntervalMs)}, but only while a \`serve\` or \`worker\` runs and its time stamp authority answers. Check that it runs, or export without --wait: the package then contains the consents that have a time stamp.`,
  );
}

function notInIt(count: number, stampIntervalMs: number): string {
  const those =
    count === 1 ? '1 consent has no time stamp yet and is' : `${count} consents have no time stamp yet and are`;
  return `${those} not in the package: ${stampsComeEvery(stampIntervalMs)}. Export again later, or with --wait (and --overwrite, to replace the file).`;
}

function stampsComeEvery(intervalMs: number): string {
  return `the service obtains a time stamp every ${intervalMs / 1000} s (STAMP_INTERVAL_MS)`;
}

function filterOf(options: Options): ExportFilter {
  return {
    ...(options.from === undefined ? {} : { from: instantOf('--from', options.from) }),
    ...(options.to === undefined ? {} : { to: instantOf('--to', options.to) }),
    ...(options.consentType === undefined ? {} : { consentType: options.consentType }),
    ...(options.documentVersion === undefined ? {} : { documentVersionId: options.documentVersion }),
    ...(options.record === undefined ? {} : { eventIds: options.record.map(eventIdOf) }),
    ...(options.visitor === undefined ? {} : { visitorId: options.visitor }),
  };
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

function instantOf(option: string, text: string): string {
  const time = Date.parse(text);
  if (!TIME.test(text) || Number.isNaN(time))
    throw new CommandError(`${option} must be a time like 2026-01-31T00:00:00Z.`, EXIT.usage);
  return new Date(time).toISOString();
}

function eventIdOf(text: string): string {
  const identifier = parseIdentifier(text);
  if (identifier !== null && 'eventId' in identifier) return identifier.eventId;
  throw new CommandError('--record must be the id of a record or its consent token.', EXIT.usage);
}

function discloseOf(text: string): Disclose {
  if (text === 'all' || text === 'none') return text;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !isDisclosureName(name));
  if (unknown.length === 0) return names;
  throw new CommandError(
    `--disclose: unknown fields ${unknown.join(', ')}. Give all, none, or names from this list: ${DISCLOSURE_NAMES.join(', ')}.`,
    EXIT.usage,
  );
}
