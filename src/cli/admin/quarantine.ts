import { Command } from 'commander';
import { listQuarantinedSites, releaseSite } from '../../pipeline/event-log/quarantined-sites.js';
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
      .action(async (options: { readonly json?: boolean; readonly site: string }) => {
        await withInstallation(context, async ({ workerPool }) => {
          if (!(await releaseSite(workerPool, options.site))) {
            throw new CommandError(
              `Site ${options.site} is not quarantined. \`consent-ledger admin quarantine list\` shows the sites that are.`,
            );
          }
          print(context, options, { released: options.site }, [
            `Site ${options.site} was released. The running worker relays its events again.`,
          ]);
        });
      }),
  );
  return group;
}
