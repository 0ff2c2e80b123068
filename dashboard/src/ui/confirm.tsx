import { type ReactNode, useState } from 'react';
import { ActionForm, type Values } from './action-form.js';
import { Button, type ButtonProps } from './button.js';
import { Dialog } from './dialog.js';

interface ConfirmProps {
  /** Text of the button, title of the dialog, and text of the button in it. */
  readonly label: string;
  /** Subject of the button, for screen readers, where several buttons have the same label. */
  readonly about?: string;
  readonly look?: ButtonProps['look'];
  readonly isDanger?: boolean;
  /** Whether it cannot be done now; the page says why. */
  readonly isDisabled?: boolean;
  /** Content of the dialog: the effect of the action. */
  readonly children: ReactNode;
  readonly action: (values: Values) => Promise<unknown>;
}

/** A button that asks before it acts. */
export function Confirm({
  label,
  about,
  look = 'plain',
  isDanger = true,
  isDisabled = false,
  children,
  action,
}: ConfirmProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        look={look}
        isDisabled={isDisabled}
        onPress={() => setOpen(true)}
        {...(about !== undefined && { 'aria-label': `${label}: ${about}` })}
      >
        {label}
      </Button>
      <ConfirmDialog label={label} isDanger={isDanger} isOpen={isOpen} onClose={() => setOpen(false)} action={action}>
        {children}
      </ConfirmDialog>
    </>
  );
}

interface ConfirmDialogProps extends Pick<ConfirmProps, 'label' | 'children' | 'action'> {
  readonly isDanger: boolean;
  /** Whether it cannot be confirmed yet, because the effect is still being loaded. */
  readonly isWaiting?: boolean;
  readonly staysOpen?: boolean;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** A dialog that asks before an action. */
export function ConfirmDialog({
  label,
  isDanger,
  isWaiting = false,
  staysOpen = false,
  isOpen,
  onClose,
  children,
  action,
}: ConfirmDialogProps) {
  return (
    <Dialog title={label} isOpen={isOpen} onClose={onClose} staysOpen={staysOpen}>
      <ActionForm
        submit={label}
        look={isDanger ? 'danger' : 'primary'}
        isWaiting={isWaiting}
        onCancel={onClose}
        action={async (values) => {
          await action(values);
          onClose();
        }}
      >
        {children}
      </ActionForm>
    </Dialog>
  );
}
