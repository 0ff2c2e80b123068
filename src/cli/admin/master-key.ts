import { resolve } from 'node:path';
import { Command } from 'commander';
import { counted } from '../../../schemas/text/counted.js';
import { programName } from '../../platform/database/migrations.js';
import { createPool } from '../../platform/database/pool.js';
import { loadMasterKey, rewrapAll } from '../../platform/keys/index.js';
import { jsonCommand } from '../command/command.js';
import { type CliContext, configOf, print, withInstallation } from '../command/context.js';

const LOCK_TIMEOUT_MS = 30_000;

/** `admin master-key rotate` */
export function masterKeyCommand(context: CliContext): Command {
  const group = new Command('master-key').description('rotate the master key, which wraps all other keys');
  group.addCommand(
    jsonCommand('rotate', 'wrap every key with another master key; restart the service with it afterwards')
      .requiredOption('--to <file>', 'file with the new master key; created with a random key if it does not exist')
      .action(async (options: { readonly json?: boolean; readonly to: string }) => rotate(context, options)),
  );
  return group;
}

async function rotate(context: CliContext, options: { readonly json?: boolean; readonly to: string }): Promise<void> {
  const file = resolve(options.to);
  const { masterKey } = configOf(context);
  const wrapped = await withInstallation(context, async ({ databaseUrl, logger }) => {
    const owner = createPool({
      url: databaseUrl,
      applicationName: programName('admin'),
      maxConnections: 1,
      statementTimeoutMs: LOCK_TIMEOUT_MS,
      onIdleError: (error) => logger.warn({ reason: error.message }, 'a database connection was lost'),
    });
    try {
      return await rewrapAll(
        owner,
        await loadMasterKey(masterKey),
        await loadMasterKey({ kind: 'generated', path: file }),
      );
    } finally {
      await owner.end();
    }
  });
  const place =
    masterKey.kind === 'given'
      ? `Set MASTER_KEY to the content of ${file}, and restart every process now`
      : `Move ${file} over the old key file, ${masterKey.path}, now; running processes read it there`;
  print(context, options, { wrapped_keys: wrapped, file }, [
    `Wrapped with the master key in ${file} only: ${counted(wrapped, 'key')}.`,
    `${place}: until then they can neither create keys nor read keys that they have not cached.`,
    'Keep the old master key, apart from the database, as long as you keep database backups from before the rotation.',
  ]);
}
