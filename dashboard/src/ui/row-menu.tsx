import { type ReactNode, useState } from 'react';
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { useMessages } from '../i18n/locale.js';
import type { Values } from './action-form.js';
import { Button } from './button.js';
import { ConfirmDialog } from './confirm.js';

/** An action that a press does at once. */
export interface RowPress {
  readonly label: string;
  readonly onPress: () => void;
}

/** An action that asks first. */
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
  readonly actions: readonly (RowAction | RowPress)[];
}

/** The actions of a row as a menu. */
export function RowMenu({ about, actions }: RowMenuProps) {
  const { common } = useMessages();
  const [chosen, setChosen] = useState<string | null>(null);
  const shown = actions.find((one): one is RowAction => one.label === chosen && 'action' in one);
  const choose = (label: string) => {
    const pressed = actions.find((one): one is RowPress => one.label === label && 'onPress' in one);
    if (pressed === undefined) setChosen(label);
    else pressed.onPress();
  };
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
          <Menu className="menu" onAction={(key) => choose(String(key))}>
            {actions.map((one) => (
              <MenuItem
                key={one.label}
                id={one.label}
                className={'isDanger' in one && one.isDanger === true ? 'menu-item menu-item-danger' : 'menu-item'}
              >
                {one.label}
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
