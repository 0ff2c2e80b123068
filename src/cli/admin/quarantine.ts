import { Command } from 'commander';
import { listQuarantinedSites, releaseSite } from '../../pipeline/event-log/quarantined-sites.js';
import { setRefusedAside } from '../../pipeline/relay/set-aside.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { CommandError } from '../command/exit-codes.js';

/** `admin quarantine list|release`: sites whose relay stopped because the event log refused one of their events for good. */
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
      .option('--set-aside', 'keep waiting events that were altered, or are missing, out of the log for good')
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
