import { Command } from 'commander';
import { VERSION } from '../platform/version.js';
import { EXIT_CODES_HELP } from './command/command.js';
import type { CliContext } from './command/context.js';

/** Creates a command. Calling it loads the modules of that command only. */
type CommandLoader = (context: CliContext) => Promise<Command>;

// Commands written by hand; those of the panel's operations are added to them. A command is loaded only when it is
// named, because loading all of them takes seconds.
const ADMIN_COMMANDS: Readonly<Record<string, CommandLoader>> = {
  'seed-demo': async (context) => (await import('./admin/seed-demo.js')).seedDemoCommand(context),
  tenant: async (context) => (await import('./admin/site.js')).tenantCommand(context),
  site: async (context) => (await import('./admin/site.js')).siteCommand(context),
  user: async (context) => (await import('./admin/user.js')).userCommand(context),
  'sign-in': async (context) => (await import('./admin/user.js')).signInCommand(context),
  'audit-log': async (context) => (await import('./admin/audit-log.js')).auditLogCommand(context),
  import: async (context) => (await import('./admin/import.js')).importCommand(context),
  count: async (context) => (await import('./admin/site.js')).countCommand(context),
  erase: async (context) => (await import('./admin/erase.js')).eraseCommand(context),
  scrub: async (context) => (await import('./admin/erase.js')).scrubCommand(context),
  ledger: async (context) => (await import('./admin/ledger.js')).ledgerCommand(context),
  structure: async (context) => (await import('./admin/structure.js')).structureCommand(context),
  'master-key': async (context) => (await import('./admin/master-key.js')).masterKeyCommand(context),
  log: async (context) => (await import('./admin/log.js')).logCommand(context),
  backup: async (context) => (await import('./admin/backup.js')).backupCommand(context),
  quarantine: async (context) => (await import('./admin/log.js')).quarantineCommand(context),
};

const COMMANDS: Readonly<Record<string, (context: CliContext, args: readonly string[]) => Promise<Command>>> = {
  serve: async (context) => (await import('./roles.js')).roleCommand(context, 'serve'),
  api: async (context) => (await import('./roles.js')).roleCommand(context, 'api'),
  worker: async (context) => (await import('./roles.js')).roleCommand(context, 'worker'),
  migrate: async (context) => (await import('./roles.js')).migrateCommand(context),
  admin: adminCommand,
  projections: async (context) => (await import('./projections.js')).projectionsCommand(context),
  audit: async (context) => (await import('./audit.js')).auditCommand(context),
  demo: async () => (await import('./demo.js')).demoCommand(),
  evidence: async (context) => (await import('./evidence.js')).evidenceCommand(context),
  listen: async (context) => (await import('./listen.js')).listenCommand(context),
};

/**
 * Creates the program `consent-ledger` with the commands for a command line: the named one, or all
 * of them for help and for an unknown name.
 * @param args the arguments, without node and the program's name
 */
export async function createProgram(context: CliContext, args: readonly string[]): Promise<Command> {
  const program = new Command('consent-ledger')
    .description('Records consents as evidence that a third party can verify offline: who agreed to what, and when.')
    .version(VERSION, '-v, --version', 'print the version')
    .addHelpText('after', EXIT_CODES_HELP)
    .addHelpText(
      'after',
      '\nIn a clone of the repository, run it as npx consent-ledger or node bin/consent-ledger.js.',
    );
  const [first, ...rest] = args;
  if (first === '--version' || first === '-v') return useStreams(program, context);
  for (const name of namedOrAll(COMMANDS, first)) program.addCommand(await known(COMMANDS[name])(context, rest));
  return useStreams(program, context);
}

async function adminCommand(context: CliContext, [word]: readonly string[]): Promise<Command> {
  const { addOperations, hasGroup } = await import('./operations/commands.js');
  const name = word !== undefined && (Object.hasOwn(ADMIN_COMMANDS, word) || hasGroup(word)) ? word : undefined;
  const admin = new Command('admin').description(
    'manage tenants, sites, users and documents; erase persons; maintain keys and the event log',
  );
  for (const chosen of name === undefined ? Object.keys(ADMIN_COMMANDS) : [name]) {
    const load = Object.hasOwn(ADMIN_COMMANDS, chosen) ? ADMIN_COMMANDS[chosen] : undefined;
    if (load !== undefined) admin.addCommand(await load(context));
  }
  addOperations(admin, context, name);
  return admin;
}

function namedOrAll(commands: Readonly<Record<string, unknown>>, name: string | undefined): readonly string[] {
  return name !== undefined && Object.hasOwn(commands, name) ? [name] : Object.keys(commands);
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a command has no loader');
  return value;
}

/**
 * Makes a command and its subcommands throw instead of ending the process, and write to the given
 * streams.
 */
function useStreams(command: Command, context: CliContext): Command {
  command.exitOverride().configureOutput({
    writeOut: (text) => context.stdout.write(text),
    writeErr: (text) => context.stderr.write(text),
  });
  for (const inner of command.commands) useStreams(inner, context);
  return command;
}
