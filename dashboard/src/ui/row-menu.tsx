import { type ReactNode, useState } from 'react';
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { useMessages } from '../i18n/locale.js';
import type { Values } from './action-form.js';
import { Button } from './button.js';
import { ConfirmDialog } from './confirm.js';

export interface RowAction {
  readonly label: string;
  readonly isDanger?: boolean;
  /** Whether a press outside leaves the dialog open, because it holds what the user wrote. */
  readonly staysOpen?: boolean;
  /** Content of the dialog: the effect of the action. */
  readonly content: ReactNode;
  readonly action: (values: Values) => Promise<unknown>;
}

interface RowMenuProps {
  /** Subject of the actions, for screen readers. */
  readonly about: string;
  readonly actions: readonly RowAction[];
}

/** The actions of a row as a menu. Each asks before it acts. */
export function RowMenu({ about, actions }: RowMenuProps) {
  const { common } = useMessages();
  const [chosen, setChosen] = useState<string | null>(null);
  const shown = actions.find(({ label }) => label === chosen);
  return (
    <>
      <MenuTrigger>
        {/* On a phone it stands in the corner of the row. */}
        <span className="row-menu">
          <Button aria-label={`${common.actions}: ${about}`}>
            <span className="row-menu-word">{common.actions}</span> <span aria-hidden="true">▾</span>
          </Button>
        </span>
        <Popover className="menu-box" placement="bottom end">
          <Menu className="menu" onAction={(key) => setChosen(String(key))}>
            {actions.map(({ label, isDanger = false }) => (
              <MenuItem key={label} id={label} className={isDanger ? 'menu-item menu-item-danger' : 'menu-item'}>
                {label}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
      <ConfirmDialog
        label={shown?.label ?? ''}
        isDanger={shown?.isDanger ?? false}
        staysOpen={shown?.staysOpen ?? false}
        isOpen={shown !== undefined}
        onClose={() => setChosen(null)}
        action={async (values) => shown?.action(values)}
      >
        {shown?.content}
      </ConfirmDialog>
    </>
  );
}
