import { Command } from 'commander';
import type { Projection } from '../../projections/definition.js';
import { PROJECTIONS } from '../../projections/index.js';
import { counted } from '../../schemas/text/counted.js';
import type { Installation } from '../app/installation.js';
import { createYieldToAdmission } from '../pipeline/admission/yield-to-admission.js';
import {
  compareProjection,
  fileProjections,
  type KnownProjection,
  knownProjection,
  listProjections,
  loadProjection,
  projectionStatus,
  type RebuildResult,
  rebuildProjection,
  removeProjection,
} from '../pipeline/projector/index.js';
import { differenceText } from '../platform/database/compare-tables.js';
import { CommandError, EXIT, jsonCommand } from './command/command.js';
import { type CliContext, print, withInstallation } from './command/context.js';
import { withBar } from './command/progress-bar.js';

interface Options {
  readonly json?: boolean;
  readonly file?: string;
}

/** `projections list|status|rebuild|compare|remove` */
export function projectionsCommand(context: CliContext): Command {
  const group = new Command('projections').description(
    'list, rebuild and compare read models, which are built from the event log',
  );
  group.addCommand(
    jsonCommand('list', 'list the projections with their views and states').action(async (options: Options) => {
      await withInstallation(context, async ({ projectionsPool }) => {
        const projections = await listProjections(projectionsPool, await allProjections(projectionsPool));
        const lines = projections.map(
          ({ name, version, views, source, state, problem }) =>
            `${name} (version ${version}${source === 'file' ? ', from a file' : ''}): ${views.join(', ')}${state === 'running' ? '' : ` — ${state.toUpperCase()}`}` +
            (problem === null ? '' : `\n  ${JSON.stringify(problem)}`),
        );
        print(context, options, { projections }, lines);
      });
    }),
  );
  group.addCommand(
    withFile(jsonCommand('status', 'show the state and position of each projection')).action(
      async (options: Options) => {
        const ofFile = options.file === undefined ? null : knownProjection(await loadProjection(options.file), 'file');
        await withInstallation(context, async ({ projectionsPool, eventLog }) => {
          const projections = ofFile === null ? await allProjections(projectionsPool) : [ofFile];
          const status = await projectionStatus(projectionsPool, eventLog, projections);
          const lines = status.map(
            ({ name, source, state, events, isUpToDate, problem }) =>
              `${name.padEnd(20)} ${state}, ${counted(events, 'event')} read, ${isUpToDate === true ? 'up to date' : lag(source)}` +
              (problem === null ? '' : `\n  ${JSON.stringify(problem)}`),
          );
          print(context, options, { projections: status }, lines);
        });
      },
    ),
  );
  const replay = (name: string, description: string, work: typeof rebuildProjection): Command =>
    withFile(jsonCommand(name, description).argument('[name]', 'name of the projection')).action(
      async (projectionName: string | undefined, options: Options) => {
        const projection = await projectionOf(projectionName, options);
        await withInstallation(context, async (installation) => {
          context.lowerPriority();
          const result = await withProgress(context, installation, projection, work);
          printResult(context, options, projection, result, name === 'rebuild');
        });
      },
    );
  group.addCommand(
    replay(
      'rebuild',
      'replay the log from its start beside the live tables, compare both, and switch to the new tables',
      rebuildProjection,
    ),
  );
  group.addCommand(
    replay('compare', 'replay the log from its start and compare, and keep the live tables', compareProjection),
  );
  group.addCommand(
    jsonCommand('remove', 'remove the views and tables of a projection that came from a file')
      .argument('<name>', 'name of the projection')
      .action(async (name: string, options: Options) => {
        if (PROJECTIONS.some((one) => one.name === name))
          throw new CommandError(`${name} is a projection of the service, which needs it.`, EXIT.usage);
        await withInstallation(context, async ({ projectionsPool }) => {
          if (!(await removeProjection(projectionsPool, name)))
            throw new CommandError(`There is no projection ${name}. \`projections list\` shows all.`);
          print(context, options, { name, removed: true }, [`${name}: views and tables removed.`]);
        });
      }),
  );
  return group;
}

async function allProjections(db: Installation['projectionsPool']): Promise<KnownProjection[]> {
  const service = PROJECTIONS.map((projection) => knownProjection(projection, 'service'));
  return [...service, ...(await fileProjections(db, PROJECTIONS))];
}

function lag(source: KnownProjection['source']): string {
  return source === 'file' ? 'lags the event log; rebuild it from its file' : 'lags the event log';
}

function withFile(command: Command): Command {
  return command.option('--file <path>', 'JavaScript file with a projection of your own (docs/projections.md)');
}

async function projectionOf(name: string | undefined, { file }: Options): Promise<Projection> {
  if ((name === undefined) === (file === undefined)) {
    throw new CommandError('Name one projection, or give a file with --file.', EXIT.usage);
  }
  if (file !== undefined) {
    const own = await loadProjection(file);
    if (PROJECTIONS.some((one) => one.name === own.name))
      throw new CommandError(`${own.name} is a projection of the service. Choose another name.`, EXIT.usage);
    return own;
  }
  const projection = PROJECTIONS.find((one) => one.name === name);
  if (projection !== undefined) return projection;
  const names = PROJECTIONS.map((one) => one.name).join(', ');
  throw new CommandError(`There is no projection ${name}. Choose one of: ${names}.`, EXIT.usage);
}

async function withProgress(
  context: CliContext,
  { projectionsPool, workerPool, eventLog }: Installation,
  projection: Projection,
  work: typeof rebuildProjection,
): Promise<RebuildResult> {
  return withBar(context, `${projection.name} [{bar}] {value} of about {total} events`, (update) =>
    work({
      db: projectionsPool,
      eventLog,
      projection,
      isFollowed: PROJECTIONS.includes(projection),
      yieldToAdmission: createYieldToAdmission({ db: workerPool }),
      onProgress: (events, total) => update(events, total ?? events),
    }),
  );
}

function printResult(
  context: CliContext,
  options: Options,
  projection: Projection,
  { events, position, comparison }: RebuildResult,
  isSwapped: boolean,
): void {
  const isEqual = comparison === null ? null : comparison.every(({ equal }) => equal);
  print(context, options, { name: projection.name, events, position, equal: isEqual, comparison, swapped: isSwapped }, [
    `${projection.name}: ${counted(events, 'event')} replayed.`,
    ...(comparison ?? []).flatMap(({ table, equal, rows, differences }) => [
      `  ${table}: ${equal ? `${counted(rows, 'row')}, equal to the live tables` : `DIFFERS from the live tables after ${counted(rows, 'equal row')}`}`,
      ...differences.map((difference) => `    ${difference.key.join(' ')}: ${differenceText(difference)}`),
    ]),
    ...(comparison === null ? ['  Not compared: the live read model is stopped or does not exist.'] : []),
    isSwapped ? 'The new tables are live.' : 'The live tables are unchanged.',
  ]);
  if (!isSwapped && isEqual === false)
    throw new CommandError(
      'The live tables differ from the event log. Run `consent-ledger projections rebuild` for this projection.',
    );
}
