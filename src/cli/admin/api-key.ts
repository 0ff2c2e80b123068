import { Command, Option } from 'commander';
import { apiKeyList } from '../../api/panel/api-keys/show-api-keys.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import type { ApiKeyRestriction } from '../../tenancy/api-keys/api-key.js';
import { createApiKey, revokeApiKey, rotateApiKey } from '../../tenancy/api-keys/api-keys.js';
import { tenantOfSite } from '../../tenancy/sites/owner-of.js';
import { allPages } from '../command/all-pages.js';
import { jsonCommand, uuid, wholeNumber } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

interface SiteOptions {
  readonly json?: boolean;
  readonly site: string;
}

interface CreateOptions extends SiteOptions {
  readonly scope: 'read' | 'write';
  readonly restriction?: ApiKeyRestriction;
  readonly name: string;
}

const SHOWN_ONCE = 'The service does not store the key and cannot show it again:';

/** `admin api-key list|create|rotate|revoke` */
export function apiKeyCommand(context: CliContext): Command {
  const group = new Command('api-key').description('manage the API keys of sites');
  for (const make of [listCommand, createCommand, rotateCommand, revokeCommand]) group.addCommand(make(context));
  return group;
}

function keyCommand(name: string, description: string): Command {
  return jsonCommand(name, description).requiredOption('--site <id>', 'id of the site', uuid);
}

function listCommand(context: CliContext): Command {
  return keyCommand('list', 'list the API keys of a site, including revoked ones').action(
    async (options: SiteOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        const keys = await allPages((page) => apiKeyList(adminPool, options.site, page));
        const lines = keys.map((key) => {
          const state =
            key.revoked_at === null ? `until ${key.expires_at ?? 'it is revoked'}` : `revoked ${key.revoked_at}`;
          return `${key.id}  ${key.prefix}…  ${key.scope.padEnd(5)}  ${(key.restriction ?? '').padEnd(11)}  ${state}  last used ${key.last_used_at ?? 'never'}  ${key.name}`;
        });
        print(context, options, { api_keys: keys }, lines.length === 0 ? ['The site has no API keys.'] : lines);
      });
    },
  );
}

function createCommand(context: CliContext): Command {
  return keyCommand('create', 'create an API key, which is shown only once')
    .addOption(new Option('--scope <scope>', 'scope of the key').choices(['read', 'write']).makeOptionMandatory())
    .addOption(
      new Option('--restriction <kind>', 'publishable: for browsers alone; secret: not for browsers').choices([
        'publishable',
        'secret',
      ]),
    )
    .option('--name <name>', 'name that distinguishes the key from others', '')
    .action(async (options: CreateOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        const created = await changeAsOperator(adminPool, async (db) => {
          const result = await createApiKey(db, options.site, options.scope, options);
          return {
            result,
            tenantId: await tenantOfSite(db, options.site),
            action: 'api_key.create',
            subject: { kind: 'api_key', id: result.id },
            details: { site_id: options.site, scope: options.scope, restriction: options.restriction ?? null },
          };
        });
        print(context, options, created, [`Created API key ${created.id}. ${SHOWN_ONCE}`, created.key]);
      });
    });
}

function rotateCommand(context: CliContext): Command {
  return keyCommand('rotate', 'replace an API key by a new one, which is shown only once')
    .argument('<key>', 'id of the key, not the key itself', uuid)
    .option('--grace <seconds>', 'time for which the old key still works', wholeNumber(0), 86_400)
    .action(async (id: string, options: SiteOptions & { readonly grace: number }) => {
      await withInstallation(context, async ({ adminPool, keyring }) => {
        const created = await changeAsOperator(adminPool, async (db) => {
          const result = await rotateApiKey(db, keyring, options.site, id, options.grace);
          return {
            result,
            tenantId: await tenantOfSite(db, options.site),
            action: 'api_key.rotate',
            subject: { kind: 'api_key', id },
            details: { site_id: options.site, replaced_by: result.id, grace_seconds: options.grace },
          };
        });
        print(context, options, { ...created, replaces: id }, [
          `API key ${created.id} replaces ${id}, which works for ${options.grace} more seconds. ${SHOWN_ONCE}`,
          created.key,
        ]);
      });
    });
}

function revokeCommand(context: CliContext): Command {
  return keyCommand('revoke', 'revoke an API key at once')
    .argument('<key>', 'id of the key, not the key itself', uuid)
    .action(async (id: string, options: SiteOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        await changeAsOperator(adminPool, async (db) => {
          await revokeApiKey(db, options.site, id);
          return {
            result: undefined,
            tenantId: await tenantOfSite(db, options.site),
            action: 'api_key.revoke',
            subject: { kind: 'api_key', id },
            details: { site_id: options.site },
          };
        });
        print(context, options, { id, revoked: true }, [`API key ${id} is revoked.`]);
      });
    });
}
