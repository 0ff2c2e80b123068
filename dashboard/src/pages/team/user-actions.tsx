import { dataOf } from '../../api/client.js';
import type { Role, User } from '../../api/types.js';
import { useApi, useUser } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { grantableRoles } from '../../rights.js';
import { Confirm } from '../../ui/confirm.js';
import { RowMenu } from '../../ui/row-menu.js';
import { useAction } from '../../ui/use-action.js';
import type { Delivery } from './link-dialog.js';
import { RoleInput, roleIn } from './role-input.js';

interface UserActionsProps {
  readonly user: User;
  readonly onLink: (delivery: Delivery) => void;
}

/** Actions on another user. */
export function UserActions({ user, onLink }: UserActionsProps) {
  const { team, secondFactor } = useMessages();
  const api = useApi();
  const me = useUser();
  const params = { path: { user_id: user.id } };
  const change = useAction((body: { role?: Role; is_disabled?: boolean }) =>
    dataOf(api.PATCH('/api/v1/users/{user_id}', { params, body })),
  );
  const reset = useAction(() => dataOf(api.POST('/api/v1/users/{user_id}/password-reset', { params })));
  const endSignIns = useAction(() => dataOf(api.DELETE('/api/v1/users/{user_id}/sign-ins', { params })));
  const resetFactor = useAction(() => dataOf(api.DELETE('/api/v1/users/{user_id}/second-factor', { params })));
  const about = user.email;
  if (user.is_disabled) {
    return (
      <Confirm label={team.enable} about={about} isDanger={false} action={() => change({ is_disabled: false })}>
        <p>{team.enableText}</p>
      </Confirm>
    );
  }
  return (
    <RowMenu
      about={about}
      actions={[
        {
          label: team.changeRole,
          content: <RoleInput roles={grantableRoles(me.role)} defaultRole={user.role} />,
          action: (values) => change({ role: roleIn(values) }),
        },
        {
          label: team.reset,
          content: <p>{team.resetText}</p>,
          action: async () => {
            const { token } = await reset(undefined);
            onLink({ page: 'reset-password', email: user.email, token });
          },
        },
        ...(user.has_second_factor
          ? [
              {
                label: secondFactor.reset,
                isDanger: true,
                content: <p>{secondFactor.resetText}</p>,
                action: () => resetFactor(undefined),
              },
            ]
          : []),
        {
          label: team.endSignIns,
          isDanger: true,
          content: <p>{team.endSignInsText}</p>,
          action: () => endSignIns(undefined),
        },
        {
          label: team.disable,
          isDanger: true,
          content: <p>{team.disableText}</p>,
          action: () => change({ is_disabled: true }),
        },
      ]}
    />
  );
}
