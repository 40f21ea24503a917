# XGBoost. Debian's own configuration names a program that is in another package. Defines xgboost::xgboost.
find_path(xgboost_INCLUDE_DIR xgboost/c_api.h)
find_library(xgboost_LIBRARY xgboost)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xgboost REQUIRED_VARS xgboost_LIBRARY xgboost_INCLUDE_DIR)
if(xgboost_FOUND AND NOT TARGET xgboost::xgboost)
  add_library(xgboost::xgboost UNKNOWN IMPORTED)
  set_target_properties(xgboost::xgboost PROPERTIES
    IMPORTED_LOCATION "${xgboost_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${xgboost_INCLUDE_DIR}")
endif()
