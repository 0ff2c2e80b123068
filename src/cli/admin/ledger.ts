import { Command } from 'commander';
import { bindEventLog } from '../../app/bind-event-log.js';
import { ledgerHeadFile } from '../../app/ledger-head-file.js';
import { ledgerSignerOf, publishLedgerKeyFile } from '../../app/open-ledger-signer.js';
import { rotateLedgerKey } from '../../app/rotate-ledger-key.js';
import { openTimestamping } from '../../app/timestamping.js';
import { rememberHead } from '../../pipeline/ledger/ledger-head.js';
import { jsonCommand } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

/** `admin ledger rotate-key` */
export function ledgerCommand(context: CliContext): Command {
  const group = new Command('ledger').description('rotate the key of the ledger');
  group.addCommand(
    jsonCommand(
      'rotate-key',
      'replace the key of the ledger by a new one, certified by the old one; restart the service afterwards',
    ).action(async (options: { readonly json?: boolean }) => {
      await withInstallation(context, async ({ workerPool: pool, eventLog, keyring, config }) => {
        await bindEventLog(pool, eventLog);
        const { client, quorum, trustAnchors, stop } = await openTimestamping(config);
        try {
          const origin = config.ledgerOrigin;
          const done = await rotateLedgerKey(
            {
              ...{ db: pool, eventLog, keyring, origin, client, quorum, trustAnchors },
              rememberHead: (state) => rememberHead(pool, ledgerHeadFile(config), state),
            },
            new AbortController().signal,
          );
          await publishLedgerKeyFile(config, ledgerSignerOf(await keyring.ledgerKey(), origin));
          print(context, options, { from: done.from, to: done.to, bridge_size: done.bridgeSize }, [
            `New ledger key:  ${done.to}`,
            `Old ledger key:  ${done.from}`,
            `Both keys signed checkpoint ${done.bridgeSize}. Verifiers who trust the old key can verify packages made from now on. Publish the new key all the same.`,
            'Restart the service now: processes that hold the old key stop at their next time stamp.',
          ]);
        } finally {
          await stop();
        }
      });
    }),
  );
  return group;
}
