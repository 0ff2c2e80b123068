import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { ROLES, type Role } from '../../catalogue/user-directory.js';
import { createUser } from '../../catalogue/users.js';
import { jsonCommand, uuid } from '../command.js';
import { type CliContext, print, withInstallation } from '../context.js';

interface Options {
  readonly json?: boolean;
  readonly tenant: string;
  readonly email: string;
  readonly role: Role;
}

/** `admin user create` */
export function userCommand(context: CliContext): Command {
  const group = new Command('user').description('users of tenants');
  group.addCommand(
    jsonCommand('create', 'make a user with a random password, which is shown this once')
      .requiredOption('--tenant <id>', 'id of the tenant', uuid)
      .requiredOption('--email <address>', 'e-mail address to sign in with')
      .addOption(new Option('--role <role>', 'what the user may do').choices(ROLES).makeOptionMandatory())
      .action(async ({ tenant: tenantId, email, role, ...options }: Options) => {
        await withInstallation(context, async ({ adminPool }) => {
          const password = randomBytes(18).toString('base64url');
          const { id } = await createUser(adminPool, { tenantId, email, password, role });
          print(context, options, { id, email, password }, [`User ${id} was made. Password: ${password}`]);
        });
      }),
  );
  return group;
}
