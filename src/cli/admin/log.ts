import { Command } from 'commander';
import { counted } from '../../../schemas/text/counted.js';
import { type Installation, openEventLog } from '../../app/installation.js';
import { ledgerHeadFile } from '../../app/ledger-files.js';
import { type ErasureJournal, openErasureJournal } from '../../erasure/index.js';
import { copyLog } from '../../pipeline/event-log/copy-log.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import { listQuarantinedSites, releaseSite } from '../../pipeline/event-log/quarantined-sites.js';
import { acceptRestoredLedger } from '../../pipeline/ledger/repair-ledger.js';
import { type LostKeys, recoverLog } from '../../pipeline/relay/recover-log.js';
import { setRefusedAside } from '../../pipeline/relay/set-aside.js';
import { eventStoreUrl } from '../../platform/config/formats.js';
import { CommandError, EXIT, jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

const POSTGRES = 'postgres';

/** `admin log copy|recover|accept-restore` */
export function logCommand(context: CliContext): Command {
  const group = new Command('log').description('copy and recover the event log; stop the service first');
  group.addCommand(
    jsonCommand('copy', 'copy the configured event log to the other adapter, event by event')
      .requiredOption('--to <target>', `${POSTGRES}, or the URL of an EventStoreDB server: esdb://…`)
      .action(async (options: { readonly json?: boolean; readonly to: string }) => {
        await withInstallation(context, (installation) => copyTo(context, installation, options));
      }),
  );
  group.addCommand(
    jsonCommand('recover', 'reconcile event log and database after a restore or a copy').action(
      async (options: { readonly json?: boolean }) => {
        await withInstallation(context, async ({ workerPool, eventLog, keyring, config }) => {
          const erased = await journaledRecords(openErasureJournal(config.erasureJournal));
          const result = await recoverLog(workerPool, eventLog, keyring, erased);
          const lost = result.missing.reduce((sum, one) => sum + one.lastRevision - one.firstRevision + 1, 0);
          print(context, options, result, [
            `Appended to the log again: ${counted(result.refilledEvents, 'event')} of ${counted(result.refilledStreams, 'stream')}.`,
            `Copied from the log into the database: ${counted(result.adoptedEvents, 'event')}.`,
            ...result.missing.map(
              ({ stream, firstRevision, lastRevision }) =>
                `Missing: revisions ${firstRevision} to ${lastRevision} of stream ${stream}.`,
            ),
            ...result.foreign.map(
              ({ stream, revision, type }) =>
                `Foreign: revision ${revision} of stream ${stream} has the type ${type}. Another program wrote it.`,
            ),
            ...result.lostKeys.map(lostKeysText),
            ...(lost + result.foreign.length === 0
              ? ['Start the service now: it rebuilds its read models beside the live ones.']
              : []),
          ]);
          if (lost > 0)
            throw new CommandError(
              `${counted(lost, 'event')} of ${counted(result.missing.length, 'stream')} cannot be restored from the database. ` +
                'Restore a newer backup of the event log, and run the command again.',
            );
          if (result.foreign.length > 0)
            throw new CommandError(
              `${counted(result.foreign.length, 'stream')} of the event log ${result.foreign.length === 1 ? 'has an event' : 'have events'} of another program. ` +
                'Restore a backup of the event log from before that, and run the command again.',
            );
        });
      },
    ),
  );
  group.addCommand(
    jsonCommand(
      'accept-restore',
      'continue with a ledger that lost its end in a restore, and record that in the ledger permanently (docs/restore.md)',
    ).action(async (options: { readonly json?: boolean }) => {
      await withInstallation(context, async ({ workerPool, eventLog, config, logger }) => {
        const accepted = await acceptRestoredLedger(workerPool, eventLog, ledgerHeadFile(config));
        if (accepted === null)
          throw new CommandError(
            'There is no loss to accept: ledger-head.json agrees with the ledger, or does not exist (`consent-ledger admin ledger adopt`).',
          );
        const { lostFromSize, head } = accepted;
        logger.warn({ lost_from_size: lostFromSize, head_size: head.size }, 'a restored ledger was accepted');
        print(context, options, { lost_from_size: lostFromSize, head }, [
          `The ledger continues at ${counted(lostFromSize, 'Merkle batch', 'Merkle batches')}; before the restore it had ${head.size}. Its stream records this.`,
          'Packages and checkpoints from before the restore contradict those made from now on. Keep them, with the reason for the restore.',
        ]);
      });
    }),
  );
  return group;
}

function lostKeysText({ siteId, records, isSiteKnown }: LostKeys): string {
  if (!isSiteKnown)
    return `Lost: site ${siteId}, which was made after the backup, with the keys of ${counted(records, 'record')}. Its events stay in the log.`;
  return `Lost: the keys of ${counted(records, 'record')} of site ${siteId}. They were in the database only. Exports state this gap, and prove the records without their personal values.`;
}

/** Returns the event ids of the records that the journal lists as erased. Their keys are missing on purpose. */
async function journaledRecords(journal: ErasureJournal): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { line } of journal.read(0)) for (const id of line?.erased?.event_ids ?? []) ids.add(id);
  return ids;
}

async function copyTo(
  context: CliContext,
  installation: Installation,
  options: { readonly json?: boolean; readonly to: string },
): Promise<void> {
  const target = await openTarget(installation, options.to);
  try {
    const { copied, present } = await copyLog(installation.eventLog, target, (progress) => {
      if (options.json !== true) context.stderr.write(`\r${progress.present + progress.copied} events`);
    });
    if (options.json !== true) context.stderr.write('\n');
    print(context, options, { copied, present, to: target.kind }, [
      `Copied: ${counted(copied, 'event')}. Already in the target: ${present}. The source is unchanged.`,
      target.kind === 'eventstoredb'
        ? 'Now set EVENTSTORE_URL to the target, run consent-ledger admin log recover, and start the service.'
        : 'Now unset EVENTSTORE_URL, run consent-ledger admin log recover, and start the service.',
    ]);
  } finally {
    await target.close();
  }
}

async function openTarget({ eventLog, databaseUrl, logger, server }: Installation, to: string): Promise<EventLog> {
  const url = to === POSTGRES ? undefined : eventStoreUrl.safeParse(to);
  if (url?.success === false) {
    throw new CommandError('--to must be postgres or a URL that begins with esdb:// or esdb+discover://.', EXIT.usage);
  }
  const target = await openEventLog({ eventStoreUrl: url?.data }, databaseUrl, logger, {
    role: 'consent_ledger_worker',
    server,
  });
  if (target.kind !== eventLog.kind) return target;
  await target.close();
  throw new CommandError(`The event log is in ${target.kind} already. Give --to the other adapter.`, EXIT.usage);
}

/**
 * `admin quarantine list|release`: sites whose relay stopped because the event log permanently refused one of their
 * events.
 */
export function quarantineCommand(context: CliContext): Command {
  const group = new Command('quarantine').description(
    'list and release quarantined sites: sites whose relay stopped for good',
  );
  group.addCommand(
    jsonCommand('list', 'list the quarantined sites with the reason').action(
      async (options: { readonly json?: boolean }) => {
        await withInstallation(context, async ({ workerPool }) => {
          const quarantined = await listQuarantinedSites(workerPool);
          const sites = quarantined.map((site) => ({
            site_id: site.siteId,
            reason: site.reason,
            quarantined_at: site.quarantinedAt.toISOString(),
          }));
          print(
            context,
            options,
            { quarantined: sites },
            sites.length === 0
              ? ['No site is quarantined.']
              : sites.map((site) => `${site.site_id}  since ${site.quarantined_at}  ${site.reason}`),
          );
        });
      },
    ),
  );
  group.addCommand(
    jsonCommand('release', 'relay a site again after you have removed the cause; otherwise it is quarantined again')
      .requiredOption('--site <id>', 'id of the site', uuid)
      .option('--set-aside', 'permanently keep waiting events that were altered or are missing out of the log')
      .action(async (options: { readonly json?: boolean; readonly site: string; readonly setAside?: boolean }) => {
        await withInstallation(context, async ({ workerPool, keyring }) => {
          const quarantined = await listQuarantinedSites(workerPool);
          if (!quarantined.some(({ siteId }) => siteId === options.site)) {
            throw new CommandError(
              `Site ${options.site} is not quarantined. \`consent-ledger admin quarantine list\` shows the sites that are.`,
            );
          }
          const aside = options.setAside === true ? await setRefusedAside(workerPool, keyring, options.site) : null;
          await releaseSite(workerPool, options.site);
          const shown = aside === null ? {} : { set_aside: aside.eventIds, missing: aside.missing };
          print(context, options, { released: options.site, ...shown }, [
            ...(aside?.eventIds ?? []).map((id) => `Event ${id} was set aside: see the table event_log.set_aside.`),
            ...(aside === null || aside.missing === 0 ? [] : [`${aside.missing} waiting events are missing for good.`]),
            `Site ${options.site} was released. The running worker relays its events again.`,
          ]);
        });
      }),
  );
  return group;
}
