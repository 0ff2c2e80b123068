import { Command, Option } from 'commander';
import { createApiKey, revokeApiKey } from '../../catalogue/api-keys.js';
import { jsonCommand, uuid } from '../command.js';
import { type CliContext, print, withInstallation } from '../context.js';

interface CreateOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly scope: 'read' | 'write';
}

/** `admin api-key create|revoke` */
export function apiKeyCommand(context: CliContext): Command {
  const group = new Command('api-key').description('API keys of sites');
  group.addCommand(
    jsonCommand('create', 'make an API key; it is shown this once')
      .requiredOption('--site <id>', 'id of the site', uuid)
      .addOption(new Option('--scope <scope>', 'what it allows').choices(['read', 'write']).makeOptionMandatory())
      .action(async (options: CreateOptions) => {
        await withInstallation(context, async ({ adminPool }) => {
          const created = await createApiKey(adminPool, options.site, options.scope);
          const lines = [`API key ${created.id} was made. It is kept nowhere and cannot be shown again:`, created.key];
          print(context, options, created, lines);
        });
      }),
  );
  group.addCommand(
    jsonCommand('revoke', 'make an API key unusable')
      .argument('<key>', 'id of the key, not the key itself', uuid)
      .requiredOption('--site <id>', 'id of the site', uuid)
      .action(async (id: string, options: { readonly json?: boolean; readonly site: string }) => {
        await withInstallation(context, async ({ adminPool }) => {
          await revokeApiKey(adminPool, options.site, id);
          print(context, options, { id, revoked: true }, [`API key ${id} is revoked.`]);
        });
      }),
  );
  return group;
}
