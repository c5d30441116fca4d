#include "tools/fairgv/focus/window_watcher.hpp"

namespace fairgv::tools::focus {

Result<std::unique_ptr<WindowWatcher>> WindowWatcher::connect() {
  return Error{"this fairgv was built without X: build it where libxcb1-dev is installed"};
}

}  // namespace fairgv::tools::focus
