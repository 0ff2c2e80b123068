import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { counted } from '../../../schemas/text/counted.js';
import { changeEmail } from '../../accounts/users/change-user.js';
import { ROLES, type Role } from '../../accounts/users/user-directory.js';
import { createUser } from '../../accounts/users/users.js';
import { changeAsOperator } from '../../platform/audit-log.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

interface Json {
  readonly json?: boolean;
}

interface NewUserOptions extends Json {
  readonly tenant: string;
  readonly email: string;
  readonly role: Role;
}

/** `admin user create|change-email`: without an invitation, and where an address cannot be proved. */
export function userCommand(context: CliContext): Command {
  const group = new Command('user').description('manage the users of tenants');
  for (const make of [createCommand, changeEmailCommand]) group.addCommand(make(context));
  return group;
}

function createCommand(context: CliContext): Command {
  return jsonCommand('create', 'create a user with a random password, which is shown only once')
    .requiredOption('--tenant <id>', 'id of the tenant', uuid)
    .requiredOption('--email <address>', 'e-mail address to sign in with')
    .addOption(new Option('--role <role>', 'role of the user').choices(ROLES).makeOptionMandatory())
    .action(async ({ tenant: tenantId, email, role, ...options }: NewUserOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        const password = randomBytes(18).toString('base64url');
        const { id } = await changeAsOperator(adminPool, async (db) => {
          const result = await createUser(db, { tenantId, email, password, role });
          const subject = { kind: 'user', id: result.id };
          return { result, tenantId, action: 'user.create', subject, details: { role } };
        });
        print(context, options, { id, email, password }, [
          `Created user ${id}. Password, which is shown only now: ${password}`,
        ]);
      });
    });
}

function changeEmailCommand(context: CliContext): Command {
  return jsonCommand('change-email', 'change the e-mail address of a user and end the sign-ins of the user')
    .argument('<user>', 'id of the user', uuid)
    .requiredOption('--email <address>', 'new e-mail address')
    .action(async (id: string, options: Json & { readonly email: string }) => {
      await withInstallation(context, async ({ adminPool }) => {
        const { after, endedSignIns } = await changeAsOperator(adminPool, async (db) => {
          const result = await changeEmail(db, id, options.email);
          const details = { ended_sign_ins: result.endedSignIns };
          const { tenantId } = result.after;
          return { result, tenantId, action: 'user.change_email', subject: { kind: 'user', id }, details };
        });
        print(context, options, { id, email: after.email, ended_sign_ins: endedSignIns }, [
          `User ${id} now signs in as ${after.email}. ${counted(endedSignIns, 'sign-in')} ended.`,
        ]);
      });
    });
}
