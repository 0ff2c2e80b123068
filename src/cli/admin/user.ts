import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { counted } from '../../../schemas/text/counted.js';
import { endSignIns } from '../../accounts/credentials/end-sign-ins.js';
import { replaceSigningKey } from '../../accounts/sign-in/access-tokens.js';
import { changeEmail } from '../../accounts/users/change-user.js';
import { readUser } from '../../accounts/users/list-users.js';
import { ROLES, type Role } from '../../accounts/users/user-directory.js';
import { createUser } from '../../accounts/users/users.js';
import { signInList } from '../../api/panel/sign-ins.js';
import { changeAsOperator } from '../../platform/audit-log.js';
import { allPages, jsonCommand, uuid } from '../command/command.js';
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

/** `admin sign-in list|end|list-keys|rotate-key` */
export function signInCommand(context: CliContext): Command {
  const group = new Command('sign-in').description('list and end sign-ins of users; manage the keys of access tokens');
  for (const make of [listCommand, endCommand, listKeysCommand, rotateKeyCommand]) group.addCommand(make(context));
  return group;
}

function listCommand(context: CliContext): Command {
  return jsonCommand('list', 'list the active sign-ins of a user, newest first')
    .requiredOption('--user <id>', 'id of the user', uuid)
    .action(async (options: Json & { readonly user: string }) => {
      await withInstallation(context, async ({ adminPool }) => {
        const { id } = await readUser(adminPool, null, options.user);
        const signIns = await allPages((page) => signInList(adminPool, id, page));
        const lines = signIns.map(
          (one) => `${one.id}  since ${one.started_at}  renewed ${one.renewed_at}  expires ${one.lapses_at}`,
        );
        print(context, options, { sign_ins: signIns }, lines.length === 0 ? ['The user is not signed in.'] : lines);
      });
    });
}

function endCommand(context: CliContext): Command {
  return jsonCommand('end', 'end the sign-ins of a user; the user can sign in again with the password')
    .requiredOption('--user <id>', 'id of the user', uuid)
    .option('--only <id>', 'end this sign-in only', uuid)
    .action(async (options: Json & { readonly user: string; readonly only?: string }) => {
      await withInstallation(context, async ({ adminPool }) => {
        const ended = await changeAsOperator(adminPool, async (db) => {
          const { id, tenantId } = await readUser(db, null, options.user);
          const choice = options.only === undefined ? { all: true as const } : { only: options.only };
          const result = await endSignIns(db, id, choice, 'ended_by_operator');
          const subject = { kind: 'user', id };
          return { result, tenantId, action: 'user.end_sign_ins', subject, details: { ended_sign_ins: result } };
        });
        print(context, options, { user_id: options.user, ended_sign_ins: ended }, [
          `${counted(ended, 'sign-in')} ended.`,
        ]);
      });
    });
}

function listKeysCommand(context: CliContext): Command {
  return jsonCommand('list-keys', 'list the keys of access tokens, newest first').action(async (options: Json) => {
    await withInstallation(context, async ({ keyring }) => {
      const keys = (await keyring.listJwtKeys()).map((key) => ({
        key_id: key.keyId,
        state: key.state,
        created_at: key.createdAt.toISOString(),
        signs_from: key.signsFrom?.toISOString() ?? null,
        verifies_until: key.verifiesUntil?.toISOString() ?? null,
      }));
      const lines = keys.map(
        (key) =>
          `${key.key_id}  ${key.state.padEnd(9)}  signs from ${key.signs_from ?? key.created_at}  verifies until ${key.verifies_until ?? 'it is replaced'}`,
      );
      print(context, options, { keys }, lines);
    });
  });
}

function rotateKeyCommand(context: CliContext): Command {
  return jsonCommand('rotate-key', 'create a new key of access tokens; needs no restart')
    .option('--at-once', 'reject the current key within seconds, because it was exposed', false)
    .action(async (options: Json & { readonly atOnce: boolean }) => {
      await withInstallation(context, async ({ workerPool, keyring }) => {
        const replaced = await changeAsOperator(workerPool, async (db) => {
          const result = await replaceSigningKey(db, keyring, options.atOnce);
          const subject = { kind: 'signing_key', id: result.keyId };
          return {
            result,
            tenantId: null,
            action: 'sign_in.rotate_key',
            subject,
            details: { at_once: options.atOnce },
          };
        });
        const { keyId, signsIn, formerVerifiesFor } = replaced;
        const shown = { key_id: keyId, signs_in_seconds: signsIn, former_verifies_for_seconds: formerVerifiesFor };
        print(context, options, shown, [
          ...(signsIn === 0
            ? [`Key ${keyId} is the first key, and signs at once.`]
            : [
                `Key ${keyId} is published and begins to sign in ${signsIn} seconds.`,
                `The previous key verifies for ${formerVerifiesFor} more seconds. No user is signed out.`,
              ]),
        ]);
      });
    });
}
