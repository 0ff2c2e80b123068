import { Command } from 'commander';
import { listParkedSites, unparkSite } from '../../pipeline/relay/parked-sites.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { CommandError } from '../command/exit-codes.js';

/** `admin parked list|release`: sites of which nothing is relayed because the log refused an event of theirs for good. */
export function parkedCommand(context: CliContext): Command {
  const group = new Command('parked').description('sites whose events the log refused: nothing of them is relayed');
  group.addCommand(
    jsonCommand('list', 'list them, with the reason').action(async (options: { readonly json?: boolean }) => {
      await withInstallation(context, async ({ workerPool }) => {
        const parked = await listParkedSites(workerPool);
        const sites = parked.map((site) => ({
          site_id: site.siteId,
          reason: site.reason,
          parked_at: site.parkedAt.toISOString(),
        }));
        print(
          context,
          options,
          { parked: sites },
          sites.length === 0
            ? ['No site is parked.']
            : sites.map((site) => `${site.site_id}  since ${site.parked_at}  ${site.reason}`),
        );
      });
    }),
  );
  group.addCommand(
    jsonCommand('release', 'relay a site again, once the cause is mended; if it is not, the site is parked again')
      .requiredOption('--site <id>', 'id of the site', uuid)
      .action(async (options: { readonly json?: boolean; readonly site: string }) => {
        await withInstallation(context, async ({ workerPool }) => {
          if (!(await unparkSite(workerPool, options.site))) {
            throw new CommandError(`The site ${options.site} is not parked.`);
          }
          print(context, options, { released: options.site }, ['The running worker relays it again.']);
        });
      }),
  );
  return group;
}
