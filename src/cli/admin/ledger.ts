import { Command } from 'commander';
import { counted } from '../../../schemas/text/counted.js';
import { bindEventLog } from '../../app/bind-event-log.js';
import { ledgerHeadFile } from '../../app/ledger-head-file.js';
import { publishLedgerKeyFile } from '../../app/ledger-key-file.js';
import { rotateLedgerKey } from '../../app/rotate-ledger-key.js';
import { openTimestamping } from '../../app/timestamping.js';
import { catchUpLedger } from '../../pipeline/ledger/apply-ledger.js';
import type { LedgerHead } from '../../pipeline/ledger/head-file.js';
import { adoptLedger } from '../../pipeline/ledger/ledger-head.js';
import { openLedgerSigner } from '../../pipeline/ledger/ledger-signer.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import type { Queryable } from '../../platform/database/pool.js';
import { jsonCommand } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { CommandError } from '../command/exit-codes.js';

/** `admin ledger rotate-key|adopt` */
export function ledgerCommand(context: CliContext): Command {
  const group = new Command('ledger').description(
    'rotate the key of the ledger, and decide which installation signs with it',
  );
  group.addCommand(
    jsonCommand(
      'rotate-key',
      'replace the key of the ledger by a new one, certified by the old one; restart the service afterwards',
    ).action(async (options: { readonly json?: boolean }) => {
      await withInstallation(context, async ({ workerPool: pool, eventLog, keyring, guard, config }) => {
        await bindEventLog(pool, eventLog);
        await catchUpLedger(pool, eventLog);
        await guard.check();
        const { client, quorum, trustAnchors, stop } = await openTimestamping(config);
        try {
          const origin = config.ledgerOrigin;
          const done = await rotateLedgerKey(
            { db: pool, eventLog, keyring, origin, client, quorum, trustAnchors, guard },
            new AbortController().signal,
          );
          await publishLedgerKeyFile(config, await openLedgerSigner({ keyring, origin, guard }));
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
  group.addCommand(
    jsonCommand(
      'adopt',
      'let this installation sign for the ledger after ledger-head.json was lost; no other may sign for it (docs/restore.md)',
    ).action(async (options: { readonly json?: boolean }) => {
      await withInstallation(context, async ({ adminPool, workerPool, eventLog, config, logger }) => {
        await bindEventLog(workerPool, eventLog);
        const file = ledgerHeadFile(config);
        const head = await adoptLedger(workerPool, eventLog, file, (head) =>
          recordAdoption(adminPool, config.ledgerOrigin, head),
        );
        if (head === null)
          throw new CommandError(
            `There is nothing to adopt: ${file.path} exists. If the service refuses it, docs/restore.md has the next steps.`,
          );
        logger.warn({ size: head.size }, 'this installation signs for the ledger from now on');
        print(context, options, { head }, [
          `This installation signs for the ledger from ${counted(head.size, 'Merkle batch', 'Merkle batches')} on. The audit log records this.`,
          'Stop every other copy of this database that runs a worker: two of them would sign two histories.',
        ]);
      });
    }),
  );
  return group;
}

function recordAdoption(db: Queryable, origin: string, { size, root }: LedgerHead): Promise<void> {
  return changeAsOperator(db, async () => ({
    tenantId: null,
    action: 'ledger.adopt',
    subject: { kind: 'ledger', id: origin },
    details: { size, root },
    result: undefined,
  }));
}
