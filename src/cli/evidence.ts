import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import type { Installation } from '../app/installation.js';
import { auditDetails } from '../evidence/exports/index.js';
import {
  type Disclose,
  type ExportFilter,
  exportEvidence,
  refuseExisting,
  waitUntilStamped,
} from '../evidence/package/index.js';
import { parseIdentifier } from '../evidence/verification/identifier.js';
import { DISCLOSABLE_FIELDS } from '../pipeline/admission/disclosures.js';
import { appendAuditEntry } from '../platform/audit-log/append-entry.js';
import { tenantOfSite } from '../tenancy/sites/owner-of.js';
import { jsonCommand, several, uuid, wholeNumber } from './command/command.js';
import { type CliContext, print, withInstallation } from './command/context.js';
import { CommandError, EXIT } from './command/exit-codes.js';

interface Options {
  readonly json?: boolean;
  readonly site: string;
  readonly output: string;
  readonly overwrite?: boolean;
  readonly wait?: true | number;
  readonly disclose: string;
  readonly from?: string;
  readonly to?: string;
  readonly consentType?: string;
  readonly documentVersion?: string;
  readonly record?: readonly string[];
  readonly visitor?: string;
}

/** `evidence export` */
export function evidenceCommand(context: CliContext): Command {
  const group = new Command('evidence').description('evidence packages, which anyone can verify offline');
  group.addCommand(
    jsonCommand('export', 'write an evidence package of a site, as of the newest stamped checkpoint')
      .requiredOption('--site <id>', 'id of the site', uuid)
      .requiredOption('--output <path>', 'where to write the ZIP; nothing may be there yet, but see --overwrite')
      .option('--overwrite', 'replace a file that is there already')
      .option(
        '--wait [seconds]',
        'first wait until every consent recorded so far is time-stamped, at most that long (else: BATCH_MAX_AGE_MS, two STAMP_INTERVAL_MS and two minutes)',
        wholeNumber(1),
      )
      .option('--disclose <fields>', 'personal fields to show: all, none, or names separated by commas', 'none')
      .option('--from <time>', 'consents from this time on')
      .option('--to <time>', 'consents before this time')
      .option('--consent-type <type>', 'consents of this type')
      .option('--document-version <id>', 'consents to this document version', uuid)
      .option('--record <id>', 'this record, by id or consent token; may be repeated', several)
      .option('--visitor <visitor_id>', 'consents of this person')
      .action((options: Options) => exportPackage(context, options)),
  );
  return group;
}

async function exportPackage(context: CliContext, options: Options): Promise<void> {
  const filter = filterOf(options);
  const disclose = discloseOf(options.disclose);
  await withInstallation(context, async (installation) => {
    const { adminPool, workerPool, eventLog, keyring, config, tracing } = installation;
    if (options.overwrite !== true) await refuseExisting(options.output);
    if (options.wait !== undefined) await waitForStamp(context, installation, options.site, options.wait);
    // Before anything leaves the service: an export that fails may have been seen.
    await appendAuditEntry(adminPool, {
      tenantId: await tenantOfSite(adminPool, options.site),
      actor: { kind: 'operator' },
      action: 'export.create',
      subject: { kind: 'site', id: options.site },
      details: auditDetails(filter, disclose),
    });
    const bar = new SingleBar({ format: '{step} [{bar}] {value}/{total}', stream: context.stderr, hideCursor: true });
    bar.start(0, 0, { step: 'entries' });
    const result = await exportEvidence(
      { db: workerPool, eventLog, keyring, origin: config.ledgerOrigin, tracing },
      {
        siteId: options.site,
        filter,
        disclose,
        output: options.output,
        overwrites: options.overwrite === true,
        exportedBy: 'consent-ledger evidence export',
        onProgress: ({ step, done, total }) => {
          bar.setTotal(total ?? done);
          bar.update(done, { step });
        },
      },
    ).finally(() => bar.stop());
    const { path, counts, checkpoint, bytes, filterDisclosures } = result;
    print(context, options, { path, counts, checkpoint, bytes, filter_disclosures: filterDisclosures }, [
      `${path} was written: ${bytes} bytes, as of checkpoint ${checkpoint ?? 'none (nothing is stamped yet)'}.`,
      ...Object.entries(counts).map(([name, count]) => `  ${name.padEnd(18)} ${String(count)}`),
      ...filterDisclosures.map(
        (text) => `To show whom the filter was about, hand this over apart from the package: ${text}`,
      ),
      ...(counts.not_yet_stamped === 0 ? [] : [notInIt(counts.not_yet_stamped, config.stampIntervalMs)]),
      'Verify it: consent-verify check <package> --tsa-ca <file> --ledger-key <file>',
    ]);
  });
}

/** @throws CommandError if it takes longer than is waited for */
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
      stderr.write(`Waiting for the time stamp of what is recorded; ${stampsComeEvery(stampIntervalMs)}.\n`),
  });
  if (isStamped) return;
  throw new CommandError(
    `After ${atMostMs / 1000} s what is recorded is not time-stamped, and nothing was exported: ${stampsComeEvery(stampIntervalMs)}, but only while a \`serve\` or \`worker\` runs and its time-stamp authority answers. Without --wait the export holds what is stamped.`,
  );
}

function notInIt(count: number, stampIntervalMs: number): string {
  const those =
    count === 1 ? '1 consent is not time-stamped yet, and is' : `${count} consents are not time-stamped yet, and are`;
  return `${those} not in it: ${stampsComeEvery(stampIntervalMs)}. Export again then, or with --wait (and --overwrite, to the same file).`;
}

function stampsComeEvery(intervalMs: number): string {
  return `time stamps come every ${intervalMs / 1000} s (STAMP_INTERVAL_MS)`;
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
  throw new CommandError('--record must be the id of a record, or its consent token.', EXIT.usage);
}

function discloseOf(text: string): Disclose {
  if (text === 'all' || text === 'none') return text;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !DISCLOSABLE_FIELDS.includes(name));
  if (unknown.length === 0) return names;
  throw new CommandError(
    `--disclose does not know ${unknown.join(', ')}. It takes all, none, or some of: ${DISCLOSABLE_FIELDS.join(', ')}.`,
    EXIT.usage,
  );
}
