import { useState } from 'react';
import type { Role } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import type { Values } from '../../ui/action-form.js';
import { SelectInput } from '../../ui/fields.js';

const ROLES: readonly Role[] = ['owner', 'admin', 'dpo', 'viewer', 'api_user'];

interface RoleInputProps {
  readonly roles: readonly Role[];
  readonly defaultRole: Role;
}

/** The choice of a role, with what it permits. */
export function RoleInput({ roles, defaultRole }: RoleInputProps) {
  const { team, shell } = useMessages();
  const [role, setRole] = useState(defaultRole);
  return (
    <SelectInput
      name="role"
      label={team.role}
      hint={team.roleTexts[role]}
      value={role}
      onChange={(value) => setRole(ROLES.find((one) => one === value) ?? 'viewer')}
      options={roles.map((value) => ({ value, label: shell.roles[value] }))}
    />
  );
}

/** The chosen role of a form. */
export function roleIn(values: Values): Role {
  return ROLES.find((role) => role === values.text('role')) ?? 'viewer';
}
