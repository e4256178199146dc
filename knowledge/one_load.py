"""ONE_LOAD: models of transformers are loaded one at a time in a process, whoever loads them."""

import threading
from typing import Final

# While it loads, transformers puts functions of its own in the place of others, in the whole process, and afterwards
# puts back what it found. Two loads at once can so leave the wrong ones for good: weights that belong together are no
# longer tied, and every model with such weights that is loaded from then on gives wrong numbers without a word.
ONE_LOAD: Final = threading.RLock()
