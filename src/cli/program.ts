import { Command } from 'commander';
import { ROLES } from '../app/start-service.js';
import { VERSION } from '../platform/version.js';
import { apiKeyCommand } from './admin/api-key.js';
import { auditLogCommand } from './admin/audit-log.js';
import { countCommand } from './admin/count.js';
import { documentCommand } from './admin/document.js';
import { eraseCommand, scrubCommand } from './admin/erase.js';
import { ledgerCommand } from './admin/ledger.js';
import { logCommand } from './admin/log.js';
import { masterKeyCommand } from './admin/master-key.js';
import { parkedCommand } from './admin/parked.js';
import { seedDemoCommand } from './admin/seed-demo.js';
import { signInCommand } from './admin/sign-in.js';
import { siteCommand } from './admin/site.js';
import { tenantCommand } from './admin/tenant.js';
import { userCommand } from './admin/user.js';
import type { CliContext } from './command/context.js';
import { EXIT_CODES_HELP } from './command/exit-codes.js';
import { evidenceCommand } from './evidence.js';
import { projectionsCommand } from './projections.js';
import { migrateCommand, roleCommand } from './roles.js';

/** Every command of `consent-ledger`. */
export function createProgram(context: CliContext): Command {
  const program = new Command('consent-ledger')
    .description('Records consents so that years later anyone can check, offline, who agreed to what, and when.')
    .version(VERSION, '-v, --version', 'print the version')
    .addHelpText('after', EXIT_CODES_HELP);
  for (const role of ROLES) program.addCommand(roleCommand(context, role));
  program.addCommand(migrateCommand(context));
  program.addCommand(adminCommand(context));
  program.addCommand(projectionsCommand(context));
  program.addCommand(evidenceCommand(context));
  useStreams(program, context);
  return program;
}

function adminCommand(context: CliContext): Command {
  const admin = new Command('admin').description('set up tenants, sites and documents; erase; look after the log');
  for (const command of [
    seedDemoCommand,
    tenantCommand,
    siteCommand,
    apiKeyCommand,
    userCommand,
    signInCommand,
    documentCommand,
    auditLogCommand,
    countCommand,
    eraseCommand,
    scrubCommand,
    ledgerCommand,
    masterKeyCommand,
    logCommand,
    parkedCommand,
  ]) {
    admin.addCommand(command(context));
  }
  return admin;
}

/** Makes a command and those below it throw instead of ending the process, and write to the given streams. */
function useStreams(command: Command, context: CliContext): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => context.stdout.write(text),
    writeErr: (text) => context.stderr.write(text),
  });
  for (const inner of command.commands) useStreams(inner, context);
}
