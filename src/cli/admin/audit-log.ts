import type { Command } from 'commander';
import { AuditLogQuery } from '../../../schemas/api/panel/audit-log.js';
import { auditLogPage } from '../../api/panel/audit-log.js';
import { CommandError, jsonCommand, uuid, wholeNumber } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

interface AuditLogOptions {
  readonly json?: boolean;
  readonly tenant?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly last: number;
}

/** `admin audit-log`: lists changes with actor and time. */
export function auditLogCommand(context: CliContext): Command {
  return jsonCommand('audit-log', 'list changes with actor and time, newest first')
    .option('--tenant <id>', 'only changes of this tenant', uuid)
    .option('--action <name>', 'only this action, e.g. site.create')
    .option('--subject <id>', 'only changes of the subject with this id')
    .option('--last <lines>', 'number of lines, 1 to 100', wholeNumber(1), 50)
    .action(async (options: AuditLogOptions) => {
      const query = AuditLogQuery.safeParse({
        limit: options.last,
        ...(options.action !== undefined && { action: options.action }),
        ...(options.subject !== undefined && { subject_id: options.subject }),
      });
      if (!query.success)
        throw new CommandError('--action must be a name such as site.create, and --last a number from 1 to 100.');
      await withInstallation(context, async ({ adminPool }) => {
        const { data } = await auditLogPage(adminPool, options.tenant ?? null, query.data);
        const lines = data.map(({ at, actor, action, subject, details }) => {
          const who = actor.user_id === null ? actor.kind : `user ${actor.user_id}`;
          return `${at}  ${who}  ${action}  ${subject.kind} ${subject.id}  ${JSON.stringify(details)}`;
        });
        print(context, options, { entries: data }, lines.length === 0 ? ['The audit log has no such entries.'] : lines);
      });
    });
}
