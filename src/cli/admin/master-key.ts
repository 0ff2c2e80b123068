import { resolve } from 'node:path';
import { Command } from 'commander';
import { counted } from '../../../schemas/text/counted.js';
import { createPool } from '../../platform/database/pool.js';
import { loadMasterKey, rewrapAll } from '../../platform/keys/index.js';
import { jsonCommand } from '../command/command.js';
import { type CliContext, configOf, print, withInstallation } from '../command/context.js';

const LOCK_TIMEOUT_MS = 30_000;

/** `admin master-key rotate` */
export function masterKeyCommand(context: CliContext): Command {
  const group = new Command('master-key').description('the key that wraps all other keys');
  group.addCommand(
    jsonCommand('rotate', 'wrap every key with another master key; restart the service with it after')
      .requiredOption('--to <file>', 'file that holds the new master key; made with a random one if it is not there')
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
      applicationName: 'consent-ledger admin',
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
  const place = {
    given: `Set MASTER_KEY to what ${file} holds`,
    file: `Set MASTER_KEY_FILE=${file}`,
    generated: `Move ${file} to where the old one is: ${'path' in masterKey ? masterKey.path : ''}`,
  }[masterKey.kind];
  print(context, options, { wrapped_keys: wrapped, file }, [
    `Wrapped with the master key in ${file}, and with no other: ${counted(wrapped, 'key')}.`,
    `${place}, and restart every process now: those that run cannot make keys any more.`,
    'Keep the old one, apart, for as long as you keep backups of the database from before.',
  ]);
}
