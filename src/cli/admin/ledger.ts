import { Command, InvalidArgumentError } from 'commander';
import type { LedgerEventSkippedBody } from '../../../schemas/events/ledger.js';
import { counted } from '../../../schemas/text/counted.js';
import { ledgerHeadFile, publishLedgerKeyFile } from '../../app/ledger-files.js';
import { bindEventLog } from '../../app/prepare-installation.js';
import { rotateLedgerKey } from '../../app/rotate-ledger-key.js';
import { openTimestamping } from '../../app/timestamping.js';
import { catchUpLedger } from '../../pipeline/ledger/apply-ledger.js';
import type { LedgerHead } from '../../pipeline/ledger/head-file.js';
import { guardLedgerAppends } from '../../pipeline/ledger/ledger-guard.js';
import { openLedgerSigner } from '../../pipeline/ledger/ledger-signer.js';
import { adoptLedger, skipLedgerEvent } from '../../pipeline/ledger/repair-ledger.js';
import { changeAsOperator } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { CommandError, jsonCommand } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

/** `admin ledger rotate-key|adopt|skip-event` */
export function ledgerCommand(context: CliContext): Command {
  const group = new Command('ledger').description(
    'rotate the key of the ledger, decide which installation signs with it, and skip an event that no worker can apply',
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
          print(context, options, { from: done.from, to: done.to, checkpoint: done.size }, [
            `New ledger key:  ${done.to}`,
            `Old ledger key:  ${done.from}`,
            `The ledger announces the new key, and both keys have signed it as of checkpoint ${done.size}. Verifiers who trust the old key can verify packages made from now on. Publish the new key all the same.`,
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
        logger.warn({ size: head.size }, 'this installation now signs for the ledger');
        print(context, options, { head }, [
          `This installation signs for the ledger from ${counted(head.size, 'Merkle batch', 'Merkle batches')} on. The audit log records this.`,
          'Stop every other copy of this database that runs a worker: two of them would sign two histories.',
        ]);
      });
    }),
  );
  group.addCommand(
    jsonCommand(
      'skip-event',
      'let the ledger go on after an event that no worker can apply, and record that in the ledger permanently (docs/restore.md)',
    )
      .requiredOption('--revision <number>', 'revision of the event, as the worker names it', revisionOf)
      .action(async (options: { readonly json?: boolean; readonly revision: number }) => {
        await withInstallation(context, async ({ adminPool, workerPool, eventLog, guard, config, logger }) => {
          await bindEventLog(workerPool, eventLog);
          const { revision } = options;
          const skipped = await skipLedgerEvent(
            workerPool,
            guardLedgerAppends(eventLog, guard),
            revision,
            () => new Date(),
            (body) => recordSkip(adminPool, config.ledgerOrigin, body),
          );
          if (skipped === null)
            throw new CommandError(
              `The ledger does not stand at revision ${revision}: it can be applied, or an earlier event cannot. Read the message of the worker, or run consent-ledger audit.`,
            );
          const { body, next } = skipped;
          logger.warn({ revision, event_id: body.event_id, reason: body.reason }, 'an event of the ledger was skipped');
          print(context, options, { skipped: body, next_fault: next?.message ?? null }, [
            `Revision ${revision} of the stream "ledger" (${body.type}, ${body.event_id}) counts as absent from now on: ${body.reason}.`,
            'The event stays in the stream, and LedgerEventSkipped.v1 after it names it. The audit log records this.',
            next === null ? 'Start the worker now.' : `The ledger stands at another event: ${next.message}`,
          ]);
        });
      }),
  );
  return group;
}

function revisionOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a number from 0.');
  return Number(text);
}

function recordSkip(db: Queryable, origin: string, body: LedgerEventSkippedBody): Promise<void> {
  const { revision, event_id, type, sha256, reason } = body;
  return changeAsOperator(db, async () => ({
    tenantId: null,
    action: 'ledger.skip_event',
    subject: { kind: 'ledger', id: origin },
    details: { revision, event_id, type, sha256, reason },
    result: undefined,
  }));
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
