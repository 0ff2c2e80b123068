import type { Command } from 'commander';
import { countSite } from '../../app/count-site.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { CommandError } from '../command/exit-codes.js';

/** `admin count`: counts a site's events at each stage of the pipeline. */
export function countCommand(context: CliContext): Command {
  return jsonCommand('count', 'count the events of a site at each stage of the pipeline')
    .requiredOption('--site <id>', 'id of the site', uuid)
    .action(async (options: { readonly json?: boolean; readonly site: string }) => {
      await withInstallation(context, async ({ workerPool, eventLog }) => {
        const counts = await countSite({ db: workerPool, eventLog }, options.site);
        if (counts === null) throw new CommandError(`There is no site ${options.site}.`);
        const lines = Object.entries(counts).map(([name, count]) => `${name.padEnd(18)} ${String(count)}`);
        print(context, options, counts, lines);
      });
    });
}
