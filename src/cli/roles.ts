import type { Command } from 'commander';
import type { Logger } from 'pino';
import { counted } from '../../schemas/text/counted.js';
import { endInTime, endOnUncaught, LONGEST_STOP_MS } from '../app/end-on-uncaught.js';
import type { ComparedMigration } from '../app/installation.js';
import type { Service } from '../app/start-service.js';
import { superviseApi } from '../app/supervise-api.js';
import { type Config, type Environment, loadConfig } from '../platform/config/index.js';
import type { SchemaDifference } from '../platform/database/schema-differences.js';
import { createLogger } from '../platform/telemetry/logger.js';
import { CommandError, jsonCommand, signalled } from './command/command.js';
import { type CliContext, configOf, print, withInstallation } from './command/context.js';
import { exampleEnvironment, exampleLines, makeExample } from './example.js';

/** A role of a process; `serve` is `api`, and a `worker` in a process of its own. */
type Role = 'serve' | 'api' | 'worker';

const DESCRIPTIONS: Readonly<Record<Role, string>> = {
  serve:
    'run the whole service: the part that answers callers, in API_PROCESSES processes, and a worker in one of its own',
  api: 'run the part that answers callers; you can run any number of them',
  worker: 'run the background part: relay, projections, sealer, stamper, erasure; you can run any number of them',
};

/**
 * `serve`, `api`, `worker`: run until SIGTERM or SIGINT, and then complete the work in progress.
 */
export function roleCommand(context: CliContext, role: Role): Command {
  const command = jsonCommand(role, DESCRIPTIONS[role]);
  if (role === 'serve') command.option('--example', 'make and serve an example in data-example, with a page to try');
  return command.action(async (options: { readonly json?: boolean; readonly example?: boolean }) => {
    const given = options.example === true ? exampleEnvironment(context.env) : context.env;
    const env = options.json === true ? { ...given, LOG_FORMAT: 'json' } : given;
    const config = loadConfig(env);
    const logger = createLogger(config, context.stderr);
    endOnUncaught(logger);
    const stopSignal = signalled();
    let answersCallers = false;
    void stopSignal.then(() => {
      // Accepted requests are finished, however long they take.
      if (!answersCallers) endInTime({ ms: LONGEST_STOP_MS, logger, exit: (exitCode) => process.exit(exitCode) });
    });
    const service = await startRole(env, role, config, logger);
    answersCallers = role !== 'worker';
    try {
      const example = options.example === true ? await makeExample({ ...context, env }, service.url) : null;
      print(context, options, { role, url: service.url, ...(example !== null && { example }) }, [
        `Consent Ledger (${role}) listens on ${service.url}`,
        ...(role === 'worker' ? [] : [`The dashboard is at ${service.url}/panel`]),
        ...(config.timestamping === undefined && role !== 'api' ? [DEVELOPMENT_NOTICE] : []),
        ...(example === null ? [] : exampleLines(example, service.url)),
        ...(role === 'worker' || example !== null ? [] : nextSteps(service.url)),
      ]);
      await Promise.race([stopSignal, service.failed]);
      logger.info('stopping: requests in progress finish first');
    } finally {
      await service.stop();
    }
    if (options.json !== true) context.stdout.write('Stopped.\n');
  });
}

type RunningRole = Pick<Service, 'url' | 'failed' | 'stop'>;

async function startRole(env: Environment, role: Role, config: Config, logger: Logger): Promise<RunningRole> {
  if (role !== 'worker') return superviseApi(role, env, logger);
  // Imported only here, because the module loads the code of the service.
  const { startWorkerService } = await import('../app/start-service.js');
  const { startWatchdog } = await import('../app/watchdog.js');
  const worker = await startWorkerService(config, logger);
  startWatchdog(logger);
  return worker;
}

const DEVELOPMENT_NOTICE =
  'A DEVELOPMENT authority issues the time stamps: they prove nothing to others. Set TSA_URLS and TSA_CA_FILE to use real authorities.';

function nextSteps(url: string): string[] {
  return [
    '',
    'Just looking? Stop it, and start an example with a page to click: npx consent-ledger serve --example',
    'Next steps, in another terminal, in the same folder:',
    '  npx consent-ledger admin seed-demo       creates an example tenant with site, keys and documents',
    `  curl -H "X-API-Key: <read key>" ${url}/tool/v1/config`,
    '  npx consent-ledger evidence export --help',
    `An agent that sets up a site, a banner or a webhook begins at ${url}/llms.txt`,
    'Stop the service with Ctrl-C: it finishes accepted requests first.',
  ];
}

/**
 * `migrate`: migrates the schema of the database. It says what may run during each step, and where the schema differs
 * from what the steps create. With `--roles` it only creates the roles.
 */
export function migrateCommand(context: CliContext): Command {
  return jsonCommand('migrate', 'bring the database schema up to date; safe to repeat')
    .option(
      '--roles',
      'only create the database roles, which a dump does not contain; run it before you restore a dump',
    )
    .action(async (options: { readonly json?: boolean; readonly roles?: boolean }) => {
      if (options.roles === true) {
        const config = configOf(context);
        const { database } = config;
        if (database.url === undefined)
          throw new CommandError('Set DATABASE_URL: the embedded PostgreSQL has its roles.');
        const { prepareSchema } = await import('../app/installation.js');
        await prepareSchema(database.url, createLogger(config, context.stderr), 'roles');
        print(context, options, { roles: true }, ['The roles exist. The database itself is as it was.']);
        return;
      }
      const applied: { readonly id: string; readonly runs_beside: string | null }[] = [];
      const differences: SchemaDifference[] = [];
      let toldAt = 0;
      const tell = (text: string): void => {
        toldAt = performance.now();
        if (options.json === true) createLogger({ logLevel: 'info', logFormat: 'json' }, context.stderr).info(text);
        else context.stderr.write(`${text}\n`);
      };
      const migrates: ComparedMigration = {
        onStep: ({ id, runsBeside }) => {
          applied.push({ id, runs_beside: runsBeside });
          tell(`applying ${id}, which runs beside: ${runsBeside ?? 'nothing'}`);
        },
        onRows: ({ id }, rows) => {
          if (performance.now() - toldAt >= PROGRESS_MS) tell(`${id}: ${counted(rows, 'row')} so far`);
        },
        onDifference: (difference) => differences.push(difference),
      };
      await withInstallation(
        context,
        async () => print(context, options, { migrated: true, applied, differences }, linesOf(differences)),
        migrates,
      );
    });
}

/** Pause between two lines about the progress of a step, in milliseconds. */
const PROGRESS_MS = 1_000;

function linesOf(differences: readonly SchemaDifference[]): readonly string[] {
  if (differences.length === 0) return ['The database schema is up to date.'];
  return [
    'All steps are applied. The schema is not what they make, so it was changed by other means:',
    ...differences.map(({ object, part, detail }) => `  ${object}${part === '' ? '' : `, ${part}`}: ${detail}`),
    'Restore these parts. To see what they should be, migrate an empty database and describe them there (\\d+ and \\df+ in psql).',
  ];
}
