import { Command, InvalidArgumentError } from 'commander';
import { counted } from '../../schemas/text/counted.js';
import { openAudit } from '../app/open-audit.js';
import { type AuditResult, runAudit } from '../audit/audit.js';
import { FINDING_KINDS, type Finding, type FindingKind, type FoldedFindings } from '../audit/finding.js';
import { type AuditState, readState, type SectionName, writeState } from '../audit/state-file.js';
import { CommandError, EXIT } from './command/command.js';
import { type CliContext, commandLogger, configOf, print } from './command/context.js';
import { type ProgressBar, progressBar } from './command/progress-bar.js';

interface Options {
  readonly json?: boolean;
  readonly resume?: string;
  readonly load: number;
}

/** `audit` */
export function auditCommand(context: CliContext): Command {
  return new Command('audit')
    .description('compare everything stored with the event log, the seals and the time stamps; changes nothing')
    .option('--json', 'print only one JSON object on standard output')
    .option('--resume <file>', 'save the progress of the audit in this file, and resume from it')
    .option('--load <percent>', 'share of the time for which the audit may work; it pauses for the rest', percent, 100)
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const from = options.resume === undefined ? undefined : await readState(options.resume);
      const result = await audit(context, options, from);
      const findings = result.findings.map((finding) => ({ ...finding, ...FINDING_KINDS[finding.kind] }));
      const folded = result.folded.map(({ firstKey: first_key, ...rest }) => ({ ...rest, first_key }));
      print(context, options, { findings, folded, more: result.more }, linesOf(result));
      if (result.findings.length > 0) throw new CommandError(`The audit found ${total(result)}.`, EXIT.failed);
    });
}

const HELP = `
The audit may run while the service works, or on a restored backup. It needs the master key, and a
database user with the role consent_ledger_auditor. docs/operations.md describes each finding.

Exit codes: ${EXIT.ok}: no disagreement; ${EXIT.failed}: disagreements or a failure; ${EXIT.usage}: usage error.`;

function percent(text: string): number {
  const value = Number(text);
  if (!/^\d{1,3}$/.test(text) || value < 1 || value > 100) throw new InvalidArgumentError('It must be from 1 to 100.');
  return value;
}

async function audit(context: CliContext, options: Options, from: AuditState | undefined): Promise<AuditResult> {
  const config = configOf(context);
  const { parts, close } = await openAudit(config, commandLogger(context, config));
  const progress = createProgress(context);
  const { resume } = options;
  try {
    return await runAudit({
      ...parts,
      load: options.load / 100,
      onProgress: progress.show,
      ...(from !== undefined && { from }),
      ...(resume !== undefined && { onState: (state) => writeState(resume, state) }),
    });
  } finally {
    progress.stop();
    await close();
  }
}

interface Progress {
  readonly show: (section: SectionName, done: number, total: number | null) => void;
  stop(): void;
}

/** One bar for each section, only on a terminal. */
function createProgress(context: CliContext): Progress {
  let bar: ProgressBar | null = null;
  let shown: SectionName | null = null;
  return {
    show: (section, done, total) => {
      if (section !== shown) {
        bar?.stop();
        bar = progressBar(context, `${section} [{bar}] {value} of about {total}`);
        shown = section;
      }
      bar?.update(done, total ?? done);
    },
    stop: () => bar?.stop(),
  };
}

function total({ findings, more, folded }: AuditResult): string {
  const hidden = folded.reduce((sum, { count }) => sum + count, 0);
  return `${counted(findings.length + more, 'disagreement')}${hidden === 0 ? '' : `, and ${hidden} below them`}`;
}

function linesOf({ findings, more, folded }: AuditResult): readonly string[] {
  if (findings.length === 0) return ['No disagreement.'];
  // The finding that explains the others comes first.
  const kinds = [...new Set(findings.map(({ kind }) => kind))].sort((a, b) => Number(isTail(b)) - Number(isTail(a)));
  return [
    ...kinds.flatMap((kind) => [
      `${kind}: ${FINDING_KINDS[kind].meaning}`,
      ...findings.filter((finding) => finding.kind === kind).map(lineOf),
      ...(isTail(kind) ? folded.map(foldedLineOf) : []),
      `  What to do: ${FINDING_KINDS[kind].action}`,
    ]),
    ...(more === 0 ? [] : [`${counted(more, 'further disagreement')} not listed.`]),
  ];
}

const isTail = (kind: FindingKind): boolean => kind === 'log-tail-lost';

function foldedLineOf({ kind, table, count, firstKey }: FoldedFindings): string {
  return `    which may explain ${count} of ${kind} in ${table}, the first of them ${firstKey}`;
}

function lineOf({ table, key, detail }: Finding): string {
  return `  ${table}${key === '' ? '' : ` ${key}`}: ${detail}`;
}
