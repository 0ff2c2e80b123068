import { Command } from 'commander';
import { listQuarantinedSites, releaseSite } from '../../pipeline/relay/quarantined-sites.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { CommandError } from '../command/exit-codes.js';

/** `admin quarantined list|release`: sites of which nothing is relayed because the log refused an event of theirs for good. */
export function quarantinedCommand(context: CliContext): Command {
  const group = new Command('quarantined').description(
    'sites whose events the log refused: nothing of them is relayed',
  );
  group.addCommand(
    jsonCommand('list', 'list them, with the reason').action(async (options: { readonly json?: boolean }) => {
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
    }),
  );
  group.addCommand(
    jsonCommand('release', 'relay a site again, once the cause is mended; if it is not, the site is quarantined again')
      .requiredOption('--site <id>', 'id of the site', uuid)
      .action(async (options: { readonly json?: boolean; readonly site: string }) => {
        await withInstallation(context, async ({ workerPool }) => {
          if (!(await releaseSite(workerPool, options.site))) {
            throw new CommandError(`The site ${options.site} is not quarantined.`);
          }
          print(context, options, { released: options.site }, ['The running worker relays it again.']);
        });
      }),
  );
  return group;
}
