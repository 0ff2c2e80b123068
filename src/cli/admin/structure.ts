import { resolve } from 'node:path';
import { Command } from 'commander';
import { counted } from '../../../schemas/text/counted.js';
import { exportStructure } from '../../evidence/structure/structure.js';
import { jsonCommand } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { withBar } from '../command/progress-bar.js';

interface Options {
  readonly json?: boolean;
  readonly output: string;
}

/** `admin structure export` */
export function structureCommand(context: CliContext): Command {
  const group = new Command('structure').description(
    'publish the structure of the ledger, from which auditors recompute its roll-ups',
  );
  group.addCommand(
    jsonCommand(
      'export',
      'write the structure up to the newest stamped checkpoint as files for a static host; writes only what is missing',
    )
      .requiredOption('--output <folder>', 'folder in which checkpoints/ is created or continued')
      .action(async (options: Options) => {
        const folder = resolve(options.output);
        await withInstallation(context, async ({ apiPool }) => {
          const { size, written } = await withBar(
            context,
            'structure [{bar}] {value} of {total} leaves',
            (onProgress) => exportStructure(apiPool, folder, onProgress),
          );
          print(context, options, { folder, size, written }, [
            size === 0
              ? 'The ledger has no stamped checkpoint yet: nothing was written.'
              : `${folder} has the structure up to checkpoint ${size}: ${counted(written, 'file')} written.`,
          ]);
        });
      }),
  );
  return group;
}
