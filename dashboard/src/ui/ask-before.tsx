import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.js';

interface AskBeforeProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly text: string;
  readonly stay: string;
  readonly leave: string;
  readonly onStay: () => void;
  readonly onLeave: () => void;
}

/** Asks before something is lost. Escape stays. */
export function AskBefore({ isOpen, title, text, stay, leave, onStay, onLeave }: AskBeforeProps) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      onOpenChange={(open) => {
        if (!open) onStay();
      }}
    >
      <Modal className="modal">
        <Dialog className="dialog" role="alertdialog">
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          <p>{text}</p>
          <div className="form-actions">
            <Button look="primary" autoFocus onPress={onStay}>
              {stay}
            </Button>
            <Button look="danger" onPress={onLeave}>
              {leave}
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
