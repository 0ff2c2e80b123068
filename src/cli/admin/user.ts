import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { CreateInvitationRequest } from '../../../schemas/api/panel/invitations.js';
import { UsersQuery } from '../../../schemas/api/panel/users.js';
import { counted } from '../../../schemas/text/counted.js';
import { noticeTo } from '../../accounts/mail/mail-job.js';
import { createMailQueue } from '../../accounts/mail/mail-queue.js';
import { removeSecondFactor } from '../../accounts/second-factor/change-factor.js';
import { createInvitation } from '../../accounts/sign-in/invitations.js';
import { createPasswordReset } from '../../accounts/sign-in/set-password.js';
import { changeEmail } from '../../accounts/users/change-email.js';
import { changeDetails, changeUser, type UserChange } from '../../accounts/users/change-user.js';
import { readUser } from '../../accounts/users/list-users.js';
import { ROLES, type Role } from '../../accounts/users/user-directory.js';
import { createUser } from '../../accounts/users/users.js';
import { userList } from '../../api/panel/users/show-users.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import { allPages } from '../command/all-pages.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { CommandError } from '../command/exit-codes.js';

interface Json {
  readonly json?: boolean;
}

interface NewUserOptions extends Json {
  readonly tenant: string;
  readonly email: string;
  readonly role: Role;
}

/** `admin user list|create|invite|set-role|disable|enable|reset-password|reset-second-factor|change-email` */
export function userCommand(context: CliContext): Command {
  const group = new Command('user').description('manage the users of tenants');
  for (const make of [
    listCommand,
    createCommand,
    inviteCommand,
    setRoleCommand,
    disableCommand,
    enableCommand,
    resetCommand,
    resetFactorCommand,
    changeEmailCommand,
  ]) {
    group.addCommand(make(context));
  }
  return group;
}

function listCommand(context: CliContext): Command {
  return jsonCommand('list', 'list users, newest first')
    .option('--tenant <id>', 'users of this tenant only', uuid)
    .action(async (options: Json & { readonly tenant?: string }) => {
      await withInstallation(context, async ({ adminPool }) => {
        const users = await allPages((page) => userList(adminPool, options.tenant ?? null, UsersQuery.parse(page)));
        const lines = users.map(
          (user) =>
            `${user.id}  ${user.role.padEnd(8)}  ${user.is_disabled ? 'disabled' : 'active  '}  last sign-in ${user.last_sign_in_at ?? 'never'}  ${user.email}`,
        );
        print(context, options, { users }, lines.length === 0 ? ['There are no users.'] : lines);
      });
    });
}

function newUserCommand(name: string, description: string): Command {
  return jsonCommand(name, description)
    .requiredOption('--tenant <id>', 'id of the tenant', uuid)
    .requiredOption('--email <address>', 'e-mail address to sign in with')
    .addOption(new Option('--role <role>', 'role of the user').choices(ROLES).makeOptionMandatory());
}

function createCommand(context: CliContext): Command {
  return newUserCommand('create', 'create a user with a random password, which is shown only once').action(
    async ({ tenant: tenantId, email, role, ...options }: NewUserOptions) => {
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
    },
  );
}

function inviteCommand(context: CliContext): Command {
  return newUserCommand('invite', 'create an invitation with a token, which is shown only once').action(
    async ({ tenant: tenantId, email, role, ...options }: NewUserOptions) => {
      const checked = CreateInvitationRequest.safeParse({ email, role });
      if (!checked.success) throw new CommandError(`${email} is not a valid e-mail address.`);
      await withInstallation(context, async ({ adminPool }) => {
        const { invitation, token } = await changeAsOperator(adminPool, async (db) => {
          const result = await createInvitation(db, { tenantId, ...checked.data, invitedBy: null });
          const subject = { kind: 'invitation', id: result.invitation.id };
          return { result, tenantId, action: 'invitation.create', subject, details: { role } };
        });
        const expires_at = invitation.expiresAt.toISOString();
        print(context, options, { id: invitation.id, email: invitation.email, token, expires_at }, [
          `Created invitation ${invitation.id}, which can be accepted until ${expires_at}. This command sends no mail: give the user this token, which is not stored and cannot be shown again:`,
          token,
        ]);
      });
    },
  );
}

function setRoleCommand(context: CliContext): Command {
  return jsonCommand('set-role', 'change the role of a user')
    .argument('<user>', 'id of the user', uuid)
    .addOption(new Option('--role <role>', 'role of the user').choices(ROLES).makeOptionMandatory())
    .action((id: string, options: Json & { readonly role: Role }) =>
      change(context, id, { role: options.role }, options, `The role of user ${id} is ${options.role}.`),
    );
}

function disableCommand(context: CliContext): Command {
  return jsonCommand('disable', 'disable a user and end the sign-ins of the user')
    .argument('<user>', 'id of the user', uuid)
    .action((id: string, options: Json) =>
      change(context, id, { isDisabled: true }, options, `User ${id} is disabled.`),
    );
}

function enableCommand(context: CliContext): Command {
  return jsonCommand('enable', 'enable a disabled user')
    .argument('<user>', 'id of the user', uuid)
    .action((id: string, options: Json) =>
      change(context, id, { isDisabled: false }, options, `User ${id} is enabled.`),
    );
}

async function change(context: CliContext, id: string, wanted: UserChange, options: Json, line: string): Promise<void> {
  await withInstallation(context, async ({ adminPool }) => {
    const { after, endedSignIns } = await changeAsOperator(adminPool, async (db) => {
      const result = await changeUser(db, null, id, wanted);
      const { tenantId } = result.after;
      return { result, tenantId, action: 'user.change', subject: { kind: 'user', id }, details: changeDetails(result) };
    });
    const shown = { id, role: after.role, is_disabled: after.disabledAt !== null, ended_sign_ins: endedSignIns };
    print(context, options, shown, [line]);
  });
}

function resetCommand(context: CliContext): Command {
  return jsonCommand('reset-password', 'create a token with which a user sets a new password; it is shown only once')
    .argument('<user>', 'id of the user', uuid)
    .action(async (id: string, options: Json) => {
      await withInstallation(context, async ({ adminPool }) => {
        const { token, expiresAt } = await changeAsOperator(adminPool, async (db) => {
          const user = await readUser(db, null, id);
          const result = await createPasswordReset(db, user, null);
          const subject = { kind: 'user', id };
          return { result, tenantId: user.tenantId, action: 'user.create_password_reset', subject, details: {} };
        });
        const expires_at = expiresAt.toISOString();
        print(context, options, { user_id: id, token, expires_at }, [
          `User ${id} can set a new password until ${expires_at} with this token, which is not stored and cannot be shown again:`,
          token,
        ]);
      });
    });
}

function resetFactorCommand(context: CliContext): Command {
  return jsonCommand('reset-second-factor', 'remove the second factor of a user who lost it')
    .argument('<user>', 'id of the user', uuid)
    .action(async (id: string, options: Json) => {
      await withInstallation(context, async ({ adminPool, config, keyring }) => {
        const queueMail = config.mail === undefined ? null : createMailQueue(keyring);
        const changed = await changeAsOperator(adminPool, async (db) => {
          const { tenantId, email } = await readUser(db, null, id);
          const result = await removeSecondFactor(db, id);
          if (result) await queueMail?.(db, noticeTo(email, 'second_factor_disabled'));
          const subject = { kind: 'user', id };
          return { result, tenantId, action: 'user.reset_second_factor', subject, details: { changed: result } };
        });
        print(context, options, { user_id: id, changed }, [
          changed ? `User ${id} signs in with the password alone now.` : `User ${id} had no second factor.`,
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
