import { Command } from 'commander';
import { counted } from '../../../schemas/text/counted.js';
import { type BackupState, isBackupSound, openAudit, readBackupState } from '../../app/open-audit.js';
import { runAudit } from '../../audit/audit.js';
import { FINDING_KINDS } from '../../audit/finding.js';
import { createLogger } from '../../platform/telemetry/logger.js';
import { CommandError, jsonCommand } from '../command/command.js';
import { type CliContext, configOf, print } from '../command/context.js';

/** `admin backup verify` */
export function backupCommand(context: CliContext): Command {
  const group = new Command('backup').description('check a restored backup without starting a service on it');
  group.addCommand(
    jsonCommand('verify', 'audit a restored backup, and show what it lacks; changes nothing and signs nothing').action(
      async (options: { readonly json?: boolean }) => {
        const config = configOf(context);
        const logger = createLogger({ ...config, logLevel: 'warn' }, context.stderr);
        const { parts, close } = await openAudit(config, logger);
        try {
          const state = await readBackupState(parts, config);
          const { findings, more } = await runAudit(parts);
          print(
            context,
            options,
            {
              ledger_size: state.ledgerSize,
              head_size: state.headSize,
              is_same_ledger: state.isSameLedger,
              streams_behind: state.streamsBehind,
              keys_brought_back: state.keysBroughtBack,
              findings: findings.map((finding) => ({ ...finding, ...FINDING_KINDS[finding.kind] })),
              more,
            },
            [
              ...linesOf(state),
              findings.length === 0
                ? 'The audit found no disagreement.'
                : `The audit found ${counted(findings.length + more, 'disagreement')}: run \`consent-ledger audit\`.`,
            ],
          );
          if (findings.length > 0 || !isBackupSound(state)) throw new CommandError('The backup is not sound.');
        } finally {
          await close();
        }
      },
    ),
  );
  return group;
}

function linesOf({ ledgerSize, headSize, isSameLedger, streamsBehind, keysBroughtBack }: BackupState): string[] {
  const lost = headSize === null ? 0 : headSize - ledgerSize;
  return [
    `The ledger has ${counted(ledgerSize, 'leaf', 'leaves')}.`,
    ...(headSize === null
      ? ['There is no ledger-head.json: a loss since the backup cannot be seen, and a worker refuses to sign.']
      : []),
    ...(lost > 0
      ? [`${counted(lost, 'leaf', 'leaves')} were sealed since the backup: docs/restore.md says what that means.`]
      : []),
    ...(isSameLedger === false ? ['It is another ledger than the one of ledger-head.json.'] : []),
    ...streamsBehind.map(
      (stream) => `The event log lacks the end of ${stream}: run \`consent-ledger admin log recover\`.`,
    ),
    `${counted(keysBroughtBack, 'key')} of erased records came back; the service destroys them before it answers a request.`,
  ];
}
