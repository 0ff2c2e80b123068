import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Whether a click outside leaves it open, because it shows something that is shown only once. */
  readonly staysOpen?: boolean;
  readonly children: ReactNode;
}

/** A window over the page. The focus stays in it, and returns to where it was. */
export function Dialog({ title, isOpen, onClose, staysOpen = false, children }: DialogProps) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      isDismissable={!staysOpen}
    >
      <Modal className="modal">
        <AriaDialog className="dialog">
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
