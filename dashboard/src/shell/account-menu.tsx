import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Dialog, DialogTrigger, Popover } from 'react-aria-components';
import { useUser } from '../app-context.js';
import { useMessages } from '../i18n/locale.js';
import { Breakable } from '../ui/breakable.js';
import { Button } from '../ui/button.js';
import { Icon } from './icon.js';
import { Preferences } from './preferences.js';

interface AccountMenuProps {
  readonly onSignOut: () => void;
}

/** What concerns the user and this browser: role, profile, language, appearance, and the way out. */
export function AccountMenu({ onSignOut }: AccountMenuProps) {
  const { shell } = useMessages();
  const user = useUser();
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button look="quiet">
        <span className="for-readers">{shell.account} </span>
        <span className="account-address">
          <Breakable text={user.email} />
        </span>{' '}
        <span aria-hidden="true">▾</span>
      </Button>
      <Popover className="menu-box account" placement="top start">
        <Dialog className="account-menu" aria-label={shell.account}>
          <p className="hint">{shell.roles[user.role as keyof typeof shell.roles]}</p>
          <Link to="/profile" onClick={close} className="account-link">
            <Icon name="profile" />
            {shell.profile}
          </Link>
          <Preferences hasVisibleLabels />
          <Button
            onPress={() => {
              close();
              onSignOut();
            }}
          >
            {shell.signOut}
          </Button>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
